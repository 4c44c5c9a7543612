// Trains a translator on two text files, and evaluates it, like `headlight train translation` and `headlight evaluate`.
#include <fmt/format.h>

#include <string>

#include "headlight/base/file.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/recipes/evaluation.h"
#include "headlight/recipes/train_translation.h"

namespace {

headlight::Json TrainAndEvaluate(const std::string& german, const std::string& english, const std::string& folder) {
  using namespace headlight;
  TranslationTraining options;
  options.train = options.valid = {german, english};
  options.out = folder;
  options.layers = 1;
  options.model_dim = 64;
  options.heads = 4;
  options.ffn_dim = 128;
  options.dropout = 0;
  options.vocabulary.size = 60;
  options.steps = options.validate_every = 100;
  options.warmup = 20;
  options.learning_rate = 0.01;
  const TrainingResult result = TrainTranslation(
      options,
      {.note = [](const std::string& text) { fmt::print(stderr, "{}\n", text); }, .stop = [] { return false; }});
  fmt::print("{} steps\n", result.steps);
  Evaluation evaluation;
  evaluation.folder = folder;
  evaluation.files = {german};
  evaluation.reference = english;
  return Evaluate(evaluation).scores;
}

}  // namespace

int main() {
  const headlight::ScratchFolder scratch;
  std::string german, english;
  for (const auto& [ein, one] : {std::pair("eins", "one"), {"zwei", "two"}, {"drei", "three"}, {"vier", "four"}})
    for (const auto& [hund, dog] : {std::pair("hund", "dog"), {"katze", "cat"}, {"maus", "mouse"}, {"vogel", "bird"}}) {
      german += fmt::format("{} {}\n", ein, hund);
      english += fmt::format("{} {}\n", one, dog);
    }
  headlight::WriteFile(scratch.File("de"), german);
  headlight::WriteFile(scratch.File("en"), english);
  const headlight::Json scores = TrainAndEvaluate(scratch.File("de"), scratch.File("en"), scratch.File("model"));
  fmt::print("chrF {:.1f}\n", *scores.Find("chrf")->As<double>());
}
