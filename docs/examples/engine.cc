// Serves many clients with one model. Each thread submits a request and waits for its result.
#include "headlight/pipelines/engine.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/recipes/train_translation.h"

namespace {

std::string Answer(headlight::Engine& engine, const std::string& text) {
  using namespace headlight;
  try {
    const TranslationRequest request = {.text = text, .options = {.beam_size = 2}, .timeout = std::chrono::minutes(1)};
    Ticket<Translation> ticket = engine.Submit(request);
    return ticket.Wait().front().text;
  } catch (const QueueFull& full) {
    return fmt::format("503 {}", full.what());
  } catch (const TimedOut& late) {
    return fmt::format("504 {}", late.what());
  } catch (const Error& error) {
    return fmt::format("{} {}", error.cause() == ErrorCause::user ? 400 : 500, error.what());
  }
}

std::vector<std::string> Serve(const std::string& folder, const std::vector<std::string>& texts) {
  headlight::Engine engine(headlight::Translator::Load(folder), {.max_waiting = 100});
  std::vector<std::string> answers(texts.size());
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < texts.size(); ++i)
    clients.emplace_back([&, i] { answers[i] = Answer(engine, texts[i]); });
  for (std::thread& client : clients) client.join();
  return answers;
}

void Train(const headlight::ScratchFolder& scratch) {
  std::string german, english;
  for (const auto& [ein, one] : {std::pair("eins", "one"), {"zwei", "two"}, {"drei", "three"}, {"vier", "four"}})
    for (const auto& [hund, dog] : {std::pair("hund", "dog"), {"katze", "cat"}, {"maus", "mouse"}, {"vogel", "bird"}}) {
      german += fmt::format("{} {}\n", ein, hund);
      english += fmt::format("{} {}\n", one, dog);
    }
  headlight::WriteFile(scratch.File("de"), german);
  headlight::WriteFile(scratch.File("en"), english);
  headlight::TranslationTraining options;
  options.train = options.valid = {scratch.File("de"), scratch.File("en")};
  options.out = scratch.File("model");
  options.layers = 1;
  options.model_dim = 64;
  options.heads = 4;
  options.ffn_dim = 128;
  options.dropout = 0;
  options.vocabulary.size = 60;
  options.steps = options.validate_every = 100;
  options.warmup = 20;
  options.learning_rate = 0.01;
  headlight::TrainTranslation(options, {.note = [](const std::string&) {}, .stop = [] { return false; }});
}

}  // namespace

int main() {
  const headlight::ScratchFolder scratch;
  Train(scratch);
  const std::vector<std::string> texts = {"eins katze", "vier maus", "\xFF", "zwei hund"};
  for (const std::string& answer : Serve(scratch.File("model"), texts)) fmt::print("{}\n", answer);
}
