// Checks that the results of an Engine equal the results without an Engine while many threads submit, cancel and wait.
// ThreadSanitizer runs these tests too.
#include "headlight/pipelines/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/pipelines/testing.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::engine_test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// Formats all fields of a result exactly.
std::string Described(const GeneratedText& text) {
  return fmt::format("{} {} {} {} {:a}", text.text, static_cast<int>(text.finish_reason), text.prompt_tokens,
                     text.tokens, text.log_probability);
}
std::string Described(const Translation& translation) {
  std::string all = fmt::format("{} {:a} {} {} {}", translation.text, translation.score, translation.tokens,
                                translation.parts, translation.complete);
  for (const WordPair& pair : translation.alignment) all += fmt::format(" {}-{}", pair.source, pair.target);
  for (const TranslatedToken& token : translation.token_scores)
    all += fmt::format(" {} {} {:a}", token.piece, token.word, token.log_probability.value_or(1));
  return all;
}
template <typename Result>
std::string Described(const std::vector<Result>& results) {
  std::string all;
  for (const Result& result : results) all += Described(result) + "\n";
  return all;
}

std::string Alone(const TextGenerator& generator, const TextRequest& request) {
  return Described(generator.Generate({request.prompt}, request.options)[0]);
}
std::string Alone(const Translator& translator, const TranslationRequest& request) {
  return Described(translator.TranslateBatch({request.text}, request.options).front());
}

// A request, and its expected result, which is computed without an Engine.
template <typename Request>
struct Case {
  Request request;
  std::string alone;
};

std::vector<Case<TextRequest>> TextCases(const TextGenerator& generator) {
  const std::vector<GenerateOptions> options = {
      {.max_new_tokens = 12},
      {.max_new_tokens = 12},
      {.temperature = 2, .max_new_tokens = 15, .seed = 3},
      {.n_best = 3, .temperature = 1.5, .max_new_tokens = 6, .seed = 4, .first_stream = 2},
      {.beam_size = 3, .n_best = 2, .max_new_tokens = 7},
      {.repetition_penalty = 1.4, .no_repeat_ngram_size = 2, .max_new_tokens = 10, .stop = {"e", "never in it"}}};
  const std::string prompts[] = {"A dog runs", "A dog runs across the meadow. Two children", "Ein Hund läuft", "",
                                 "Two"};
  std::vector<Case<TextRequest>> cases;
  for (const GenerateOptions& one : options)
    for (const std::string& prompt : prompts) {
      Case<TextRequest>& added = cases.emplace_back();
      added.request = {.prompt = prompt, .options = one};
      added.alone = Alone(generator, added.request);
      if (cases.size() % 3 != 0 || prompt.empty()) continue;
      added.request.ids = generator.tokenizer().Encode(prompt).ids;
      added.request.prompt.clear();
    }
  return cases;
}

std::vector<Case<TranslationRequest>> TranslationCases(const Translator& translator) {
  const std::vector<TranslateOptions> options = {{.alignment = true, .token_scores = true},
                                                 {.beam_size = 1, .max_length = 20},
                                                 {.beam_size = 3, .n_best = 2, .max_length = 9},
                                                 {.n_best = 2, .max_length = 12, .temperature = 2, .seed = 5},
                                                 {.max_length = 15, .target_prefix = {"Two"}, .token_scores = true}};
  std::vector<std::string> texts(kSentences.begin(), kSentences.end());
  texts.push_back("");
  texts.push_back(texts[0] + " " + texts[2] + " " + texts[4]);  // a text that is split into parts
  std::vector<Case<TranslationRequest>> cases;
  for (const TranslateOptions& one : options)
    for (const std::string& text : texts) {
      Case<TranslationRequest>& added = cases.emplace_back();
      added.request = {.text = text, .options = one};
      added.alone = Alone(translator, added.request);
      if (cases.size() % 3 != 0 || one.alignment || &text == &texts.back() || text.empty()) continue;
      added.request.ids = translator.SourceIds(text);
      added.request.text.clear();
    }
  return cases;
}

// Streamed pieces of text, by index of the text.
struct Streamed {
  std::map<std::size_t, std::string> texts;
};
void Stream(TextRequest& request, Streamed& streamed) {
  request.options.on_text = [&](std::size_t text, std::string_view piece) { streamed.texts[text] += piece; };
}
void Stream(TranslationRequest&, Streamed&) {}
bool Agrees(const std::vector<GeneratedText>& results, Streamed& streamed) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (streamed.texts[i] != results[i].text) return false;
  return true;
}
bool Agrees(const std::vector<Translation>&, const Streamed&) { return true; }

struct Outcome {
  std::atomic<int> finished = 0, differing = 0, cancelled = 0, timed_out = 0, full = 0;
};

// Runs client threads. Each thread submits random cases, cancels some, and expects the other results to equal the
// results of single calls.
template <typename Request>
void RunClients(Engine& engine, const std::vector<Case<Request>>& cases, int threads, int requests, Outcome& outcome,
                const std::function<void(Request&)>& defect = {}) {
  using Asked = decltype(engine.Submit(std::declval<Request>()));
  struct Submitted {
    Asked ticket;
    const Case<Request>* asked;
    bool streams;
    std::unique_ptr<Streamed> streamed;
  };
  const auto client = [&](std::uint64_t thread) {
    Random random(8, thread);
    std::vector<Submitted> submitted;
    for (int left = requests; left > 0 || !submitted.empty();) {
      if (left > 0 && (submitted.empty() || random.Below(3) != 0)) {
        const Case<Request>& one = cases[random.Below(cases.size())];
        Request request = one.request;
        const bool streams = random.Below(2) == 0;
        auto streamed = std::make_unique<Streamed>();
        if (streams) Stream(request, *streamed);
        if (random.Below(12) == 0) request.timeout = std::chrono::milliseconds(1 + random.Below(3));
        if (defect) defect(request);
        try {
          submitted.push_back({engine.Submit(std::move(request)), &one, streams, std::move(streamed)});
          --left;
        } catch (const QueueFull&) {
          ++outcome.full;
          std::this_thread::yield();
        }
        continue;
      }
      const auto which = static_cast<std::ptrdiff_t>(random.Below(submitted.size()));
      Submitted one = std::move(submitted[static_cast<std::size_t>(which)]);
      submitted.erase(submitted.begin() + which);
      const auto what = random.Below(6);
      if (what == 0) continue;  // the destructor of the ticket cancels the request
      if (what == 1) one.ticket.WaitFor(std::chrono::milliseconds(random.Below(3)));
      std::thread canceller;
      if (what == 2) canceller = std::thread([&] { one.ticket.Cancel(); });
      try {
        const auto results = one.ticket.Wait();
        ++outcome.finished;
        if (Described(results) != one.asked->alone || (one.streams && !Agrees(results, *one.streamed)))
          ++outcome.differing;
      } catch (const Cancelled&) {
        ++outcome.cancelled;
      } catch (const TimedOut&) {
        ++outcome.timed_out;
      }
      if (canceller.joinable()) canceller.join();
    }
  };
  std::vector<std::thread> clients;
  for (int thread = 0; thread < threads; ++thread) clients.emplace_back(client, static_cast<std::uint64_t>(thread));
  for (std::thread& one : clients) one.join();
}

// Waits until the condition is true, and fails after a time limit.
void Await(const std::function<bool()>& holds) {
  for (int i = 0; i < 20'000 && !holds(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(holds());
}

void ExpectIdle(const Engine& engine) {
  Await([&] { return engine.Statistics().running == 0; });
  const EngineStatistics statistics = engine.Statistics();
  EXPECT_EQ(statistics.waiting, 0);
  Await([&] { return engine.Statistics().cached_tokens == 0; });
}

TEST(EngineClients, GetTheTextsOfSingleCalls) {
  const TemporaryFolder folder;
  SaveTinyGpt(folder.path());
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const auto cases = TextCases(generator);
  for (const EngineOptions& options :
       {EngineOptions{}, EngineOptions{.max_waiting = 3, .max_running = 4, .cached_tokens = 70}}) {
    Engine engine(generator, options);
    Outcome outcome;
    RunClients(engine, cases, 6, 50, outcome);
    EXPECT_EQ(outcome.differing, 0);
    EXPECT_GT(outcome.finished, 100);
    EXPECT_GT(outcome.cancelled, 0);
    EXPECT_LE(outcome.finished + outcome.cancelled + outcome.timed_out, 300);
    ExpectIdle(engine);
  }
}

TEST(EngineClients, GetTheTranslationsOfSingleCalls) {
  const TemporaryFolder folder;
  SaveTinyModel(folder.path());
  const Translator translator = Translator::Load(folder.path());
  const auto cases = TranslationCases(translator);
  for (const EngineOptions& options :
       {EngineOptions{}, EngineOptions{.max_waiting = 3, .max_running = 4, .cached_tokens = 170}}) {
    Engine engine(translator, options);
    Outcome outcome;
    RunClients(engine, cases, 6, 50, outcome);
    EXPECT_EQ(outcome.differing, 0);
    EXPECT_GT(outcome.finished, 100);
    EXPECT_GT(outcome.cancelled, 0);
    ExpectIdle(engine);
  }
}

// Checks that RunClients detects an engine that numbers random streams by arrival.
TEST(EngineClients, DetectRandomStreamsThatDependOnTheOrder) {
  const TemporaryFolder folder;
  SaveTinyGpt(folder.path());
  const TextGenerator generator = TextGenerator::Load(folder.path());
  Engine engine(generator);
  Outcome outcome;
  std::atomic<std::uint64_t> arrival = 0;
  RunClients<TextRequest>(engine, TextCases(generator), 4, 20, outcome, [&](TextRequest& request) {
    if (request.options.seed) request.options.first_stream = 100 + arrival++;
  });
  EXPECT_GT(outcome.differing, 0);
}

// Uses a model with many positions, so that a text of the maximum length would take longer than the test.
class EngineTest : public testing::Test {
 protected:
  static constexpr std::int32_t kPositions = 100'000;
  EngineTest() : generator_(Made()) {}
  TextGenerator Made() {
    SaveTinyGpt(folder_.path(), kPositions);
    return TextGenerator::Load(folder_.path());
  }
  static TextRequest Endless() {
    return {.prompt = "A dog", .options = {.max_new_tokens = kPositions - 100, .min_new_tokens = kPositions - 100}};
  }
  static TextRequest Short(std::string prompt = "A dog runs") {
    return {.prompt = std::move(prompt), .options = {.max_new_tokens = 5}};
  }
  // Submits an endless text, and waits until it runs.
  static Ticket<GeneratedText> Occupy(Engine& engine) {
    auto ticket = engine.Submit(Endless());
    Await([&] { return engine.Statistics().running == 1 && engine.Statistics().generated_tokens > 0; });
    return ticket;
  }
  void ExpectGood(Engine& engine) const {
    EXPECT_EQ(Described(engine.Submit(Short()).Wait()), Alone(generator_, Short()));
  }
  const TemporaryFolder folder_;
  const TextGenerator generator_;
};

TEST_F(EngineTest, RefusesRequestsThatExceedTheQueue) {
  Engine engine(generator_, {.max_waiting = 2, .max_running = 1});
  const auto endless = Occupy(engine);
  auto first = engine.Submit(Short("one")), second = engine.Submit(Short("two"));
  EXPECT_EQ(engine.Statistics().waiting, 2);
  EXPECT_THROW((void)engine.Submit(Short()), QueueFull);
  first.Cancel();
  auto third = engine.Submit(Short("three"));
  EXPECT_THROW((void)engine.Submit(Short()), QueueFull);
  EXPECT_THROW(first.Wait(), Cancelled);
  EXPECT_FALSE(second.WaitFor(1ms));
  endless.Cancel();
  EXPECT_EQ(Described(third.Wait()), Alone(generator_, Short("three")));
  EXPECT_TRUE(second.WaitFor(0ms));  // first come, first served
  EXPECT_EQ(Described(second.Wait()), Alone(generator_, Short("two")));
  EXPECT_THAT(ErrorOf([&] { second.Wait(); }), HasSubstr("was called before"));
  ExpectIdle(engine);
}

TEST_F(EngineTest, BoundsTheBytesOfWaitingRequests) {
  Engine engine(generator_, {.max_waiting_bytes = 3000, .max_running = 1});
  const auto endless = Occupy(engine);
  try {
    (void)engine.Submit(Short(std::string(3001, 'a')));
    FAIL();
  } catch (const QueueFull&) {
    FAIL() << "it never fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.option(), "max_waiting_bytes");
  }
  std::vector<Ticket<GeneratedText>> tickets;
  EXPECT_THROW(while (tickets.size() < 1000) tickets.push_back(engine.Submit(Short())), QueueFull);
  EXPECT_GT(tickets.size(), 2U);
  EXPECT_THROW((void)engine.Submit(Short(std::string(2900, 'a'))), QueueFull);
  tickets.clear();
  EXPECT_EQ(engine.Statistics().waiting, 0);
  const auto again = engine.Submit(Short());
}

TEST_F(EngineTest, CancelsAtEveryPoint) {
  Engine engine(generator_, {.max_running = 1});
  auto running = Occupy(engine);
  auto waiting = engine.Submit(Endless());
  waiting.Cancel();
  EXPECT_EQ(engine.Statistics().waiting, 0);
  EXPECT_THROW(waiting.Wait(), Cancelled);
  std::thread waiter([&] { EXPECT_THROW(running.Wait(), Cancelled); });
  running.Cancel();
  waiter.join();
  // Cancels a request whose prompt takes many forward passes.
  TextRequest long_prompt = Endless();
  long_prompt.ids.assign(50'000, 7);
  long_prompt.options.max_new_tokens = long_prompt.options.min_new_tokens = 1;
  auto reading = engine.Submit(long_prompt);
  Await([&] { return engine.Statistics().cached_tokens > 500; });
  reading.Cancel();
  EXPECT_THROW(reading.Wait(), Cancelled);
  { const auto dropped = engine.Submit(Endless()); }
  ExpectGood(engine);
  auto finished = engine.Submit(Short());
  Await([&] { return finished.WaitFor(1ms); });
  finished.Cancel();
  EXPECT_EQ(Described(finished.Wait()), Alone(generator_, Short()));
  ExpectIdle(engine);
}

TEST_F(EngineTest, EndsRequestsAtTheirTimeout) {
  Engine engine(generator_, {.max_running = 1});
  TextRequest late = Endless();
  late.timeout = 100ms;
  auto running = engine.Submit(late);
  Await([&] { return engine.Statistics().running == 1; });
  late.timeout = 5ms;
  auto waiting = engine.Submit(late);
  EXPECT_THROW(waiting.Wait(), TimedOut);
  EXPECT_THROW(running.Wait(), TimedOut);
  late.timeout = 20ms;
  auto forgotten = engine.Submit(late);  // no thread waits for this request
  ExpectGood(engine);
  ExpectIdle(engine);
  EXPECT_THROW(forgotten.Wait(), TimedOut);
  TextRequest soon = Short();
  soon.timeout = std::chrono::milliseconds::max();
  EXPECT_EQ(Described(engine.Submit(soon).Wait()), Alone(generator_, Short()));
}

TEST_F(EngineTest, CancelsAllWhenItIsDestroyed) {
  auto engine = std::make_unique<Engine>(generator_, EngineOptions{.max_running = 1});
  auto finished = engine->Submit(Short());
  Await([&] { return finished.WaitFor(1ms); });
  auto running = Occupy(*engine);
  auto waiting = engine->Submit(Short()), unheard = engine->Submit(Short());
  std::thread waiters[] = {std::thread([&] { EXPECT_THROW(running.Wait(), Cancelled); }),
                           std::thread([&] { EXPECT_THROW(waiting.Wait(), Cancelled); })};
  engine.reset();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_THROW(unheard.Wait(), Cancelled);
  EXPECT_EQ(Described(finished.Wait()), Alone(generator_, Short()));
}

TEST_F(EngineTest, ACallbackThatThrowsEndsItsOwnRequest) {
  Engine engine(generator_);
  TextRequest bad = Endless();
  int calls = 0;
  bad.options.on_text = [&](std::size_t, std::string_view) {
    if (++calls == 3) throw std::out_of_range("the client is gone");
  };
  auto neighbor = engine.Submit(Short());
  EXPECT_THROW(engine.Submit(bad).Wait(), std::out_of_range);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(Described(neighbor.Wait()), Alone(generator_, Short()));
  ExpectIdle(engine);
}

TEST_F(EngineTest, ACallbackMayCallTheEngine) {
  Engine engine(generator_);
  std::optional<Ticket<GeneratedText>> ticket;
  TextRequest request = Endless();
  request.options.on_text = [&](std::size_t, std::string_view) {
    ExpectGood(engine);
    ticket->Cancel();
  };
  ticket = engine.Submit(request);
  EXPECT_THROW(ticket->Wait(), Cancelled);
  ExpectIdle(engine);
}

TEST_F(EngineTest, RefusesImpossibleRequests) {
  Engine engine(generator_, {.cached_tokens = 50});
  const auto refusal = [&](TextRequest request) { return ErrorOf([&] { (void)engine.Submit(std::move(request)); }); };
  EXPECT_THAT(refusal({.prompt = "\xFF"}), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal({.ids = std::vector<std::int32_t>(kPositions + 1)}), HasSubstr("the model reads at most"));
  EXPECT_THAT(refusal({.ids = {-1}}), HasSubstr("outside the vocabulary"));
  EXPECT_THAT(refusal({.ids = {1 << 30}}), HasSubstr("outside the vocabulary"));
  EXPECT_THAT(refusal({.prompt = "a", .options = {.temperature = 0}}), HasSubstr("`temperature`"));
  EXPECT_THAT(refusal({.prompt = "a", .options = {.cancelled = [] { return true; }}}), HasSubstr("`cancelled`"));
  EXPECT_THAT(refusal({.prompt = "a", .timeout = 0ms}), HasSubstr("`timeout` must be above 0"));
  EXPECT_THAT(refusal({.prompt = "a", .options = {.max_new_tokens = 51}}), HasSubstr("`cached_tokens`, 50"));
  EXPECT_THAT(refusal({.prompt = "a", .options = {.beam_size = 10, .max_new_tokens = 10}}),
              HasSubstr("`beam_size` 10"));
  EXPECT_THAT(ErrorOf([&] { (void)engine.Submit(TranslationRequest{.text = "a"}); }), HasSubstr("continues prompts"));
  ExpectGood(engine);
  const auto options_refusal = [&](const EngineOptions& options) {
    return ErrorOf([&] { Engine(generator_, options); });
  };
  EXPECT_THAT(options_refusal({.max_waiting = 0}), HasSubstr("`max_waiting` must be"));
  EXPECT_THAT(options_refusal({.max_waiting_bytes = 0}), HasSubstr("`max_waiting_bytes` must be"));
  EXPECT_THAT(options_refusal({.max_running = 0}), HasSubstr("`max_running` must be"));
  EXPECT_THAT(options_refusal({.cached_tokens = -1}), HasSubstr("`cached_tokens` must be"));
}

TEST_F(EngineTest, CountsTokens) {
  Engine engine(generator_);
  std::int64_t tokens = 0;
  for (const char* prompt : {"A dog", "Two"})
    for (const GeneratedText& text :
         engine.Submit({.prompt = prompt, .options = {.n_best = 2, .temperature = 1, .max_new_tokens = 9}}).Wait())
      tokens += text.tokens;
  EXPECT_EQ(engine.Statistics().generated_tokens, tokens);
  ExpectIdle(engine);
}

TEST(Engine, ANaNEndsOnlyItsOwnRequest) {
  const TemporaryFolder folder;
  SaveTinyGpt(folder.path());
  {
    const std::string path = folder.File("model.safetensors");
    std::vector<Tensor> values;
    std::vector<StoredTensor> stored;
    {
      const Safetensors file(path);
      for (const auto& [name, tensor] : file.tensors()) {
        const Tensor& value = values.emplace_back(file.Read(name));
        if (name.ends_with("wpe.weight")) value.ViewRows(20, 20).Fill(NAN);  // only longer texts use these positions
        stored.push_back(Stored(name, value));
      }
    }
    WriteSafetensors(path, stored);
  }
  const TextGenerator generator = TextGenerator::Load(folder.path());
  const TextRequest good = {.prompt = "A dog", .options = {.max_new_tokens = 8, .min_new_tokens = 8}},
                    bad = {.prompt = "A dog", .options = {.max_new_tokens = 30, .min_new_tokens = 30}};
  const std::string alone = Alone(generator, good);
  EXPECT_THAT(ErrorOf([&] { Alone(generator, bad); }), HasSubstr("NaN"));
  Engine engine(generator);
  for (int i = 0; i < 5; ++i) {
    auto first = engine.Submit(good), second = engine.Submit(bad), third = engine.Submit(good);
    EXPECT_THAT(ErrorOf([&] { second.Wait(); }), HasSubstr("NaN"));
    EXPECT_EQ(Described(first.Wait()), alone);
    EXPECT_EQ(Described(third.Wait()), alone);
  }
  ExpectIdle(engine);
}

TEST(Engine, TranslatesAsASingleCall) {
  const TemporaryFolder folder;
  SaveTinyModel(folder.path());
  const Translator translator = Translator::Load(folder.path());
  Engine engine(translator);
  const TranslationRequest attended = {.text = std::string(kSentences[0]), .options = {.attention = true}};
  const std::vector<Translation> results = engine.Submit(attended).Wait();
  EXPECT_EQ(Described(results), Alone(translator, attended));
  ASSERT_TRUE(results[0].attention.has_value());
  EXPECT_EQ(engine.Submit(TranslationRequest{}).Wait().front().text, "");
  const auto refusal = [&](TranslationRequest request) {
    return ErrorOf([&] { (void)engine.Submit(std::move(request)); });
  };
  EXPECT_THAT(refusal({.text = "\xFF"}), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal({.text = "a", .options = {.beam_size = 0}}), HasSubstr("`beam_size`"));
  EXPECT_THAT(refusal({.ids = {1, 2, 1 << 20}}), HasSubstr("outside the source's vocabulary"));
  EXPECT_THAT(refusal({.ids = std::vector<std::int32_t>(41, 1)}), HasSubstr("from 1 to 40 tokens"));
  EXPECT_THAT(refusal({.ids = {1}, .options = {.alignment = true}}), HasSubstr("`alignment`"));
  EXPECT_THAT(ErrorOf([&] { (void)engine.Submit(TextRequest{.prompt = "a"}); }), HasSubstr("translates"));
  ExpectIdle(engine);
}

}  // namespace
}  // namespace headlight::engine_test
