// Tests sampling and guidance. The frequency of each token must equal its probability after temperature, top-k, top-p
// and penalties.
#include "headlight/generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/models/family.h"

namespace headlight::generate_test {
namespace {

const std::vector<std::int32_t> kPrompt = {3, 7, 12};

// Returns the probabilities of the next token after kPrompt, computed by definition.
std::map<std::int32_t, double> Expected(const LanguageModel& model, const GenerationOptions& options) {
  Context context;
  const Tensor hidden = model.Decode(context, kPrompt, Sequences{{0, 3}});
  std::vector<std::pair<double, std::int32_t>> words;
  const std::vector<float> logits = model.Logits(context, hidden.ViewRows(2, 1)).ToVector<float>();
  for (std::size_t word = 0; word < logits.size(); ++word) {
    double logit = logits[word];
    if (std::ranges::find(kPrompt, static_cast<std::int32_t>(word)) != kPrompt.end())
      logit = logit < 0 ? logit * options.search.processors.repetition_penalty
                        : logit / options.search.processors.repetition_penalty;
    words.emplace_back(std::exp(logit / options.search.sampling.temperature), static_cast<std::int32_t>(word));
  }
  std::ranges::sort(words, std::ranges::greater{});
  if (options.search.sampling.top_k > 0)
    words.resize(std::min(words.size(), static_cast<std::size_t>(options.search.sampling.top_k)));
  double all = 0, kept = 0;
  for (const auto& [weight, word] : words) all += weight;
  std::map<std::int32_t, double> expected;
  for (const auto& [weight, word] : words) {
    if (kept >= options.search.sampling.top_p * all) break;
    kept += expected[word] = weight;
  }
  for (auto& [word, weight] : expected) weight /= kept;
  return expected;
}

TEST(Generate, SamplesTokensByTheirProbability) {
  const auto model = LoadModel<LanguageModel>(HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/gpt2");
  for (const auto& [temperature, top_k, top_p, penalty] :
       {std::tuple(1.0, 0, 1.0, 1.0), std::tuple(2.5, 5, 1.0, 1.0), std::tuple(2.0, 0, 0.7, 1.3),
        std::tuple(3.0, 12, 0.8, 1.0), std::tuple(0.2, 0, 1.0, 1.0)}) {
    const GenerationOptions options{.search = {.sample = true,
                                               .sampling = {.temperature = temperature, .top_k = top_k, .top_p = top_p},
                                               .processors = {.repetition_penalty = penalty}},
                                    .seed = 11,
                                    .max_new_tokens = 1};
    constexpr int draws = 4000;
    std::map<std::int32_t, double> found;
    for (const auto& hypotheses : Generate(*model, std::vector(draws, kPrompt), options))
      found[hypotheses.front().ids.front()] += 1.0 / draws;
    const std::map<std::int32_t, double> expected = Expected(*model, options);
    for (const auto& [word, share] : found) EXPECT_TRUE(expected.contains(word)) << word;
    for (const auto& [word, probability] : expected)
      EXPECT_NEAR(found[word], probability, 4 * std::sqrt(probability / draws) + 1.0 / draws) << word;
  }
}

std::vector<double> LogSoftmax(const std::vector<double>& logits) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  std::vector<double> normalized = logits;
  for (double& logit : normalized) logit -= std::log(sum);
  return normalized;
}

// Returns the scores of the next token after each prompt followed by the ids, computed by the definition of guidance.
// The scores are log-probabilities, or sums of log-probabilities for beams.
std::vector<double> GuidedScores(const LanguageModel& model, std::vector<std::int32_t> prompt,
                                 const std::vector<std::int32_t>& ids, const GenerationOptions& options) {
  const auto logits = [&](std::vector<std::int32_t> text) {
    text.insert(text.end(), ids.begin(), ids.end());
    const auto length = static_cast<std::int32_t>(text.size());
    Context context;
    const Tensor hidden = model.Decode(context, text, {{0, length}}).ViewRows(length - 1, 1);
    const std::vector<float> values = model.Logits(context, hidden).ToVector<float>();
    return LogSoftmax({values.begin(), values.end()});
  };
  const std::vector<double> with = logits(std::move(prompt)), without = logits(options.unguided);
  std::vector<double> guided;
  for (std::size_t token = 0; token < with.size(); ++token)
    guided.push_back(without[token] + options.search.guidance * (with[token] - without[token]));
  return options.search.beam_size == 1 ? LogSoftmax(guided) : guided;
}

TEST(Generate, GuidesAwayFromAnotherPrompt) {
  const auto model = LoadModel<LanguageModel>(HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/gpt2");
  const std::vector<std::vector<std::int32_t>> prompts = {kPrompt, {9}, {5, 1, 8, 2, 2}};
  for (const double guidance : {0.0, 0.5, 3.0})
    for (const std::int32_t beams : {1, 3}) {
      const GenerationOptions options{
          .search = {.beam_size = beams, .n_best = beams, .length_penalty = 0, .guidance = guidance},
          .unguided = {4, 4},
          .max_new_tokens = 6};
      const std::vector<std::vector<Hypothesis>> results = Generate(*model, prompts, options);
      for (std::size_t i = 0; i < prompts.size(); ++i)
        for (const Hypothesis& found : results[i]) {
          double sum = 0;
          std::vector<std::int32_t> ids;
          for (const std::int32_t id : found.ids) {
            const std::vector<double> next = GuidedScores(*model, prompts[i], ids, options);
            if (beams == 1) {
              EXPECT_EQ(id, std::ranges::max_element(next) - next.begin());
            }
            sum += next[static_cast<std::size_t>(id)];
            ids.push_back(id);
          }
          EXPECT_NEAR(found.log_probability, sum, 1e-4 * (1 + guidance)) << guidance << " " << beams;
        }
    }
  const auto refusal = [&](const GenerationOptions& options) {
    return ErrorOf([&] { Generate(*model, prompts, options); });
  };
  EXPECT_THAT(refusal({.search = {.guidance = -1}, .unguided = {4}}),
              testing::HasSubstr("`guidance` must be a number"));
  EXPECT_THAT(refusal({.search = {.guidance = std::nan("")}, .unguided = {4}}), testing::HasSubstr("guidance"));
  EXPECT_EQ(refusal({.search = {.guidance = 2}}), "");  // the unconditional prompt is the prompt's last token
  EXPECT_THAT(refusal({.search = {.guidance = 2}, .unguided = std::vector<std::int32_t>(10'000, 4)}),
              testing::HasSubstr("which has 10000"));
  EXPECT_THAT(refusal({.search = {.guidance = 2}, .unguided = {-3}}), testing::HasSubstr("-3"));
}

TEST(Generate, EndsAtEndTokensAndScoresByTheModel) {
  const auto model = LoadModel<LanguageModel>(HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/gpt2");
  GenerationOptions options{.search = {.processors = {.repetition_penalty = 1.5, .no_repeat_ngram_size = 1}},
                            .max_new_tokens = 12};
  const Hypothesis plain = Generate(*model, {kPrompt}, options).front().front();
  ASSERT_EQ(plain.ids.size(), 12U);
  EXPECT_FALSE(plain.ended);

  std::vector<std::int32_t> all = kPrompt;
  all.insert(all.end(), plain.ids.begin(), plain.ids.end());
  const std::vector<double> given = TokenLogProbabilities(*model, all, Sequences{{0, 15}});
  EXPECT_EQ(given[0], 0);
  double sum = 0;
  for (std::size_t i = 3; i < given.size(); ++i) sum += given[i];
  EXPECT_NEAR(plain.log_probability, sum, 1e-3);
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());  // tokens are distinct

  std::vector<std::int32_t> told;
  options.on_token = [&](std::size_t prompt, std::int32_t id) {
    EXPECT_EQ(prompt, 0U);
    told.push_back(id);
    return told.size() < 4;
  };
  const Hypothesis stopped = Generate(*model, {kPrompt}, options).front().front();
  EXPECT_EQ(stopped.ids, told);
  EXPECT_EQ(stopped.ids, std::vector(plain.ids.begin(), plain.ids.begin() + 4));
  EXPECT_TRUE(stopped.ended);

  // A text has at most one token more than the model's 24 positions, because the last token is not an input.
  const std::vector<std::int32_t> whole(24, 5);
  EXPECT_EQ(Generate(*model, {kPrompt}, {.max_new_tokens = 99}).front().front().ids.size(), 22U);
  EXPECT_EQ(Generate(*model, {whole}, {}).front().front().ids.size(), 1U);
  EXPECT_NE(ErrorOf([&] { Generate(*model, {std::vector<std::int32_t>(25, 5)}, {}); }), "");
  EXPECT_NE(ErrorOf([&] { Generate(*model, {{}}, {}); }), "");
  EXPECT_NE(ErrorOf([&] { Generate(*model, {{99}}, {}); }), "");
  EXPECT_TRUE(Generate(*model, {}, {}).empty());

  model->parameters().all().back().value.Fill(NAN);
  for (const bool sample : {false, true}) {
    options = {.search = {.sample = sample}};
    EXPECT_THAT(ErrorOf([&] { Generate(*model, {kPrompt}, options); }), testing::HasSubstr("weights are damaged"));
  }
}

}  // namespace
}  // namespace headlight::generate_test
