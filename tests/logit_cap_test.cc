// Checks that the logits, the loss, and all ways to choose tokens use the same logit cap.
#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/generate/generate.h"
#include "headlight/models/llama.h"
#include "headlight/train/objectives/language_model.h"

namespace headlight::logit_cap_test {
namespace {

constexpr double kCap = 0.4;

class Capped : public Llama {
 public:
  explicit Capped(double cap)
      : Llama({.model = 8, .layers = 1, .heads = 2, .ffn = 12, .vocabulary = 23, .positions = 32}) {
    logit_cap_ = cap;
    parameters().Initialize(5);
    for (float& weight : parameters().values().span<float>()) weight *= 8;  // most logits reach the cap
  }
};

using Ids = std::vector<std::int32_t>;
const Ids kText = {3, 7, 12, 5, 9, 22, 1};

std::vector<double> LogitsOf(const LanguageModel& model, const Ids& ids) {
  Context context;
  const auto length = static_cast<std::int32_t>(ids.size());
  const Tensor logits = model.Logits(context, model.Decode(context, ids, Sequences{{0, length}}));
  std::vector<double> numbers;
  for (const float number : logits.ToVector<float>()) numbers.push_back(number);
  return numbers;
}

// Returns the log-probability of a token from the logits of the row before it.
double LogProbability(const std::vector<double>& logits, std::size_t row, std::int32_t id) {
  double sum = 0;
  for (std::size_t token = 0; token < 23; ++token) sum += std::exp(logits[row * 23 + token]);
  return logits[row * 23 + static_cast<std::size_t>(id)] - std::log(sum);
}

TEST(LogitCap, AppliesToLogitsAndScores) {
  const Capped capped(kCap), plain(0);
  const std::vector<double> logits = LogitsOf(capped, kText), raw = LogitsOf(plain, kText);
  int beyond = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    EXPECT_NEAR(logits[i], kCap * std::tanh(raw[i] / kCap), 1e-6);
    beyond += std::abs(raw[i]) > kCap;
  }
  EXPECT_GT(beyond, std::ssize(raw) / 4);
  const std::vector<double> scores = TokenLogProbabilities(capped, kText, {{0, 7}});
  for (std::size_t i = 1; i < kText.size(); ++i) EXPECT_NEAR(scores[i], LogProbability(logits, i - 1, kText[i]), 1e-5);
}

TEST(LogitCap, AppliesToTheLoss) {
  Capped model(kCap);
  const TextSets texts{.train = {{kText, {}, {}, {}}}, .valid = {{kText, {}, {}, {}}}};
  const TrainingTask task = LanguageModelTask(model, texts, 0, {});
  Ids all = {1};
  all.insert(all.end(), kText.begin(), kText.end());
  const std::vector<double> logits = LogitsOf(model, all);
  double expected = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) expected -= LogProbability(logits, i, all[i + 1]);
  expected -= LogProbability(logits, all.size() - 1, 2);
  EXPECT_NEAR(task.validate({}).loss, expected / static_cast<double>(all.size()), 1e-5);
}

TEST(LogitCap, AppliesToEveryChoiceOfTokens) {
  const Capped model(kCap);
  for (const SearchOptions& search : {SearchOptions{}, SearchOptions{.beam_size = 3, .length_penalty = 0},
                                      SearchOptions{.sample = true, .sampling = {.top_k = 0}}}) {
    GenerationOptions options{.search = search, .max_new_tokens = 6};
    const Hypothesis text = Generate(model, {kText}, options).front().front();
    Ids all = kText;
    all.insert(all.end(), text.ids.begin(), text.ids.end());
    const std::vector<double> scores = TokenLogProbabilities(model, all, {{0, static_cast<std::int32_t>(all.size())}});
    double expected = 0;
    for (std::size_t i = kText.size(); i < all.size(); ++i) expected += scores[i];
    EXPECT_NEAR(text.log_probability, expected, 1e-4) << search.beam_size << search.sample;
  }
}

// Checks that guidance is refused. With a cap, the guided logits cannot be computed from a combination of states.
TEST(LogitCap, RefusesGuidance) {
  const GenerationOptions options{.search = {.guidance = 2}, .unguided = {4}, .max_new_tokens = 2};
  EXPECT_THAT(ErrorOf([&] { Generate(Capped(kCap), {kText}, options); }), testing::HasSubstr("guidance"));
  EXPECT_EQ(ErrorOf([&] { Generate(Capped(0), {kText}, options); }), "");
}

}  // namespace
}  // namespace headlight::logit_cap_test
