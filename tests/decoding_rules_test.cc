// Tests the options for decoding with an encoder-decoder: penalties, sampling, target prefixes, token scores.
// tests/encoder_decoder_parity_test.cc compares with Transformers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/batched.h"
#include "headlight/generate/decode.h"
#include "headlight/models/family.h"

namespace headlight::decoding_rules_test {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

std::string FolderOf(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/tests/testdata/encoder_decoders/" + name;
}

std::unique_ptr<EncoderDecoder> Load(const std::string& name, LoadFor purpose = LoadFor::computing) {
  return LoadModel<EncoderDecoder>(FolderOf(name), {.purpose = purpose});
}

const std::vector<Ids> kSources = {{3, 7, 12, 5, 21, 1}, {9, 4, 1}, {14, 12, 2, 18, 6, 11, 1}, {3, 8, 1}};

std::vector<Hypothesis> Alone(const EncoderDecoder& model, const Ids& source, const DecodingOptions& options) {
  return Decode(model, source, {{0, static_cast<std::int32_t>(source.size())}}, options).front();
}

// Returns the model's logits after each of the inputs.
std::vector<std::vector<double>> LogitsAfter(const EncoderDecoder& model, const Ids& source, const Ids& inputs) {
  Context context;
  const Sequences sources = {{0, static_cast<std::int32_t>(source.size())}};
  const Memory memory{model.Encode(context, source, sources), sources};
  const Tensor hidden = model.Decode(context, inputs, {{0, static_cast<std::int32_t>(inputs.size())}}, memory);
  const Tensor logits = model.Logits(context, hidden);
  std::vector<std::vector<double>> rows;
  for (std::int64_t row = 0; row < logits.rows(); ++row)
    rows.emplace_back(logits.matrix<float>().row(row), logits.matrix<float>().row(row) + logits.columns());
  return rows;
}

double LogProbability(const std::vector<double>& logits, std::int32_t id) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return logits[static_cast<std::size_t>(id)] - std::log(sum);
}

void ExpectSame(const std::vector<Hypothesis>& found, const std::vector<Hypothesis>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].ids, expected[i].ids);
    EXPECT_EQ(found[i].score, expected[i].score);
    EXPECT_EQ(found[i].ended, expected[i].ended);
    EXPECT_EQ(found[i].token_scores, expected[i].token_scores);
  }
}

TEST(DecodingRules, BeginTranslationsWithTheirPrefix) {
  const std::vector<Ids> prefixes = {{13, 6}, {}, {5}, {20, 4, 4, 9}};
  for (const char* name : {"t5_relu", "bart_gelu"}) {
    const auto model = Load(name), drafting = Load(name, LoadFor::computing_with_draft);
    for (const std::int32_t beams : {1, 3})
      for (const std::int32_t min_length : {0, 4})
        for (const std::int32_t ngrams : {0, 2}) {
          DecodingOptions options{.search = {.beam_size = beams,
                                             .n_best = beams,
                                             .processors = {.no_repeat_ngram_size = ngrams},
                                             .token_scores = true},
                                  .max_length = 16,
                                  .min_length = min_length};
          for (const Ids& prefix : prefixes) options.sources.push_back({prefix, 0});
          const auto together = DecodeInBatches(*model, kSources, options, 1000);
          const auto drafted = DecodeInBatches(*drafting, kSources, options, 1);
          for (std::size_t i = 0; i < kSources.size(); ++i) {
            // The prefix must give the same result if it is passed as decoder inputs. The goldens of Transformers check
            // this case.
            DecodingOptions alone = options;
            alone.sources.clear();
            alone.prefix = {model->limits().start_id};
            alone.prefix.insert(alone.prefix.end(), prefixes[i].begin(), prefixes[i].end());
            const auto expected = Alone(*model, kSources[i], alone);
            ExpectSame(together[i], expected);
            if (beams == 1) ExpectSame(drafted[i], expected);
            EXPECT_TRUE(std::ranges::equal(std::span(together[i][0].ids).first(prefixes[i].size()), prefixes[i]));
          }
        }
  }
}

TEST(DecodingRules, PutTheLanguageBeforeThePrefix) {
  const auto model = Load("bart_gelu");
  DecodingOptions options{.search = {.beam_size = 3, .first_token = 17}, .max_length = 12};
  options.sources = {{{13, 6}, 0}, {}, {}, {{4}, 0}};
  const auto found = DecodeInBatches(*model, kSources, options);
  EXPECT_THAT(found[0][0].ids, testing::AllOf(testing::Contains(13), testing::Contains(6)));
  EXPECT_EQ(Ids(found[0][0].ids.begin(), found[0][0].ids.begin() + 3), (Ids{17, 13, 6}));
  EXPECT_EQ(found[1][0].ids.front(), 17);
  EXPECT_EQ(Ids(found[3][0].ids.begin(), found[3][0].ids.begin() + 2), (Ids{17, 4}));
  DecodingOptions without{.search = {.beam_size = 3, .first_token = 17}, .max_length = 12};
  ExpectSame(found[1], Alone(*model, kSources[1], without));
}

// Checks that each token chosen by the model has one score. The scores must sum to the log-probability.
TEST(DecodingRules, ScoreEveryToken) {
  for (const char* name : {"t5_relu", "bart_gelu"}) {
    const auto model = Load(name), drafting = Load(name, LoadFor::computing_with_draft);
    for (const std::int32_t beams : {1, 4}) {
      DecodingOptions options{.search = {.beam_size = beams, .n_best = beams, .token_scores = true}, .max_length = 14};
      options.sources = {{}, {{20}, 0}, {{13, 6}, 0}, {}};
      const auto found = DecodeInBatches(beams == 1 ? *drafting : *model, kSources, options);
      for (std::size_t i = 0; i < kSources.size(); ++i)
        for (const Hypothesis& hypothesis : found[i]) {
          Ids inputs = {model->limits().start_id}, outputs = hypothesis.ids;
          inputs.insert(inputs.end(), outputs.begin(), outputs.end());
          if (hypothesis.ended) outputs.push_back(model->limits().end_id);
          const auto logits = LogitsAfter(*model, kSources[i], inputs);
          const std::size_t given = options.sources[i].target_prefix.size();
          ASSERT_EQ(hypothesis.token_scores.size(), outputs.size() - given);
          double sum = 0;
          for (std::size_t token = given; token < outputs.size(); ++token) {
            const double score = hypothesis.token_scores[token - given];
            EXPECT_NEAR(score, LogProbability(logits[token], outputs[token]), 1e-4);
            sum += score;
          }
          EXPECT_NEAR(hypothesis.log_probability, sum, 1e-4);
        }
    }
  }
}

// Compares with a greedy search that applies the penalty step by step.
TEST(DecodingRules, PenalizeRepetition) {
  for (const char* name : {"t5_relu", "bart_gelu"}) {
    const auto model = Load(name);
    for (const double penalty : {1.4, 0.6}) {
      const DecodingOptions options{.search = {.beam_size = 1, .processors = {.repetition_penalty = penalty}},
                                    .max_length = 12};
      const auto together = DecodeInBatches(*model, kSources, options);
      for (std::size_t i = 0; i < kSources.size(); ++i) {
        Ids inputs = {model->limits().start_id};
        double sum = 0;
        bool ended = false;
        while (std::ssize(inputs) <= 12 && !ended) {
          const std::vector<double> logits = LogitsAfter(*model, kSources[i], inputs).back();
          std::int32_t best = -1;
          double most = -INFINITY;
          for (std::int32_t id = 0; id < std::ssize(logits); ++id) {
            double logit = logits[static_cast<std::size_t>(id)];
            if (std::ranges::find(inputs, id) != inputs.end()) logit = logit < 0 ? logit * penalty : logit / penalty;
            if (id != model->limits().pad_id && logit > most) most = logit, best = id;
          }
          sum += LogProbability(logits, best);
          inputs.push_back(best);
          ended = best == model->limits().end_id;
        }
        Ids expected(inputs.begin() + 1, inputs.end() - (ended ? 1 : 0));
        EXPECT_EQ(together[i][0].ids, expected) << name << " " << i;
        EXPECT_NEAR(together[i][0].log_probability, sum, 1e-3);
      }
    }
  }
}

// Compares the frequencies of the second token after a given first token with their probabilities, with a shortlist and
// with the whole vocabulary.
TEST(DecodingRules, SampleTokensByTheirProbability) {
  const auto model = Load("bart_gelu");
  const Ids& source = kSources[2];
  Shortlist list{{4, 6, 7, 9, 11, 13, 15, 19}, {}, {}};
  list.begins.assign(static_cast<std::size_t>(model->limits().source_vocabulary) + 1, 0);
  for (const auto& [temperature, top_k, top_p, penalty, shortlist] :
       {std::tuple(1.0, 0, 1.0, 1.0, false), std::tuple(2.5, 5, 1.0, 1.0, false), std::tuple(2.0, 0, 0.7, 1.3, false),
        std::tuple(2.0, 0, 1.0, 1.5, true)}) {
    DecodingOptions options{.search = {.beam_size = 1,
                                       .sample = true,
                                       .sampling = {.temperature = temperature, .top_k = top_k, .top_p = top_p},
                                       .processors = {.repetition_penalty = penalty},
                                       .token_scores = true},
                            .max_length = 2,
                            .seed = 11,
                            .shortlist = shortlist ? &list : nullptr};
    constexpr int draws = 3000;
    for (std::uint64_t i = 0; i < draws; ++i) options.sources.push_back({{13}, i});
    std::map<std::int32_t, double> found;
    const std::vector<double> logits = LogitsAfter(*model, source, {model->limits().start_id, 13}).back();
    for (const auto& hypotheses : DecodeInBatches(*model, std::vector(draws, source), options, 20000)) {
      const Hypothesis& one = hypotheses.front();
      const std::int32_t id = one.ended ? model->limits().end_id : one.ids.back();
      found[id] += 1.0 / draws;
      if (!shortlist) {
        EXPECT_NEAR(one.token_scores.at(0), LogProbability(logits, id), 1e-4);
      }
    }
    std::vector<std::pair<double, std::int32_t>> words;
    for (std::int32_t id = 0; id < std::ssize(logits); ++id) {
      const bool in_list = id == model->limits().end_id || std::ranges::find(list.always, id) != list.always.end();
      if (id == model->limits().pad_id || (shortlist && !in_list)) continue;
      double logit = logits[static_cast<std::size_t>(id)];
      if (id == 13 || id == model->limits().start_id) logit = logit < 0 ? logit * penalty : logit / penalty;
      words.emplace_back(std::exp(logit / temperature), id);
    }
    std::ranges::sort(words, std::ranges::greater{});
    if (top_k > 0) words.resize(static_cast<std::size_t>(top_k));
    double all = 0, kept = 0;
    for (const auto& [weight, id] : words) all += weight;
    std::map<std::int32_t, double> expected;
    for (const auto& [weight, id] : words) {
      if (kept >= top_p * all) break;
      kept += expected[id] = weight;
    }
    for (const auto& [id, share] : found) EXPECT_TRUE(expected.contains(id)) << id;
    for (const auto& [id, weight] : expected)
      EXPECT_NEAR(found[id], weight / kept, 4 * std::sqrt(weight / kept / draws) + 1.0 / draws) << id;
  }
}

TEST(DecodingRules, AreBatchInvariant) {
  for (const char* name : {"t5_relu", "bart_gelu"}) {
    const auto model = Load(name);
    for (const bool sample : {true, false}) {
      DecodingOptions options{.search = {.beam_size = sample ? 1 : 3,
                                         .sample = sample,
                                         .sampling = {.temperature = 1.5},
                                         .processors = {.repetition_penalty = 1.2, .no_repeat_ngram_size = 2},
                                         .token_scores = true},
                              .max_length = 14,
                              .min_length = 3,
                              .seed = 5};
      options.sources = {{{13, 6}, 7}, {{}, 1}, {{5}, 0}, {{}, 9}};
      const auto together = DecodeInBatches(*model, kSources, options, 1000);
      for (std::size_t i = 0; i < kSources.size(); ++i) {
        DecodingOptions alone = options;
        alone.sources = {options.sources[i]};
        ExpectSame(together[i], Alone(*model, kSources[i], alone));
        EXPECT_GE(together[i][0].ids.size(), 3U);
        alone.seed = 6;
        if (sample && i == 3) {
          EXPECT_NE(together[i][0].ids, Alone(*model, kSources[i], alone)[0].ids);
        }
      }
    }
  }
}

// Checks a batch with enough sentences to be divided among threads.
TEST(DecodingRules, DoNotDependOnThreads) {
  const auto model = Load("bart_gelu");
  std::vector<Ids> sources;
  DecodingOptions options{
      .search = {.beam_size = 1, .sample = true, .sampling = {.temperature = 2}, .token_scores = true},
      .max_length = 9,
      .seed = 3};
  for (std::int32_t i = 0; i < 75; ++i) {
    Ids& source = sources.emplace_back(kSources[static_cast<std::size_t>(i % 4)]);
    source[0] = 3 + i % 20;
    options.sources.push_back({i % 3 == 0 ? Ids{5 + i % 7} : Ids{}, static_cast<std::uint64_t>(i)});
  }
  const int before = Threads();
  SetThreads(1);
  const auto expected = DecodeInBatches(*model, sources, options, 10000);
  SetThreads(3);
  const auto found = DecodeInBatches(*model, sources, options, 10000);
  SetThreads(before);
  for (std::size_t i = 0; i < sources.size(); ++i) ExpectSame(found[i], expected[i]);
}

TEST(DecodingRules, RefuseImpossibleOptions) {
  const auto model = Load("bart_gelu");
  const auto refused = [&](const DecodingOptions& options) {
    return ErrorOf([&] { Decode(*model, {}, {}, options); });
  };
  EXPECT_THAT(refused({.search = {.beam_size = 2, .sample = true}}), HasSubstr("sampling is for a `beam_size`"));
  EXPECT_THAT(refused({.search = {.sample = true, .sampling = {.temperature = 0}}}),
              HasSubstr("`temperature` must be"));
  EXPECT_THAT(refused({.search = {.sample = true, .sampling = {.top_p = 1.5}}}), HasSubstr("`top_p` must be"));
  EXPECT_THAT(refused({.search = {.processors = {.repetition_penalty = NAN}}}),
              HasSubstr("`repetition_penalty` must be"));
  EXPECT_THAT(refused({.max_length = 5, .min_length = 6}), HasSubstr("`min_length` must be from 0"));
  EXPECT_THAT(refused({.min_length = 25}), HasSubstr("positions, 24, not 25"));
  EXPECT_THAT(refused({.max_length = 2, .sources = {{{4, 5}, 0}}}), HasSubstr("target prefix of 2"));
  EXPECT_THAT(refused({.sources = {{{99}, 0}}}), HasSubstr("the token 99"));
}

}  // namespace
}  // namespace headlight::decoding_rules_test
