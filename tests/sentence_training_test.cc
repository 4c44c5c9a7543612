// Compares contrastive training of a text encoder with a loss that is computed from the vectors of Embedder. Other
// tests compare these vectors with sentence-transformers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/train/gradients.h"
#include "headlight/train/objectives/sentence_vectors.h"
#include "tests/parity_testing.h"

namespace headlight::sentence_training_test {
namespace {

using testing::HasSubstr;

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";

// Returns pairs in which one text has more tokens than the model has positions, two positives are equal, and a negative
// equals a positive.
std::vector<SimilarTexts> Pairs() {
  std::string longest = "The meadow";
  for (int i = 0; i < 30; ++i) longest += " is green";
  return {{"A small dog runs.", "The dog is running across the meadow.", {"Two men.", "A green dog"}, "a:1"},
          {"Two men, two dogs.", "dogs and men", {}, "a:2"},
          {"The children are playing.", "A child plays", {"The children are green"}, "a:3"},
          {longest, "green", {}, "a:4"},
          {"It is green.", "green", {"dogs and men"}, "a:5"}};
}

double LogOfSum(const std::vector<double>& logits) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return std::log(sum);
}

// The mean loss and the recall of all pairs as one batch (Henderson et al., 2017, section 4.4, in both directions).
struct Expected {
  Expected(const Embedder& embedder, const SentenceVectorOptions& options, bool with_negatives) {
    std::vector<std::string> texts, matches;
    for (const SimilarTexts& pair : Pairs()) {
      texts.push_back(options.prompt + pair.text);
      matches.push_back(options.prompt + pair.match);
    }
    const std::size_t pairs = texts.size();
    if (with_negatives)
      for (const SimilarTexts& pair : Pairs())
        for (const std::string& negative : pair.negatives) matches.push_back(options.prompt + negative);
    const Tensor a = embedder.Embed(texts, {.truncate = true}).vectors,
                 b = embedder.Embed(matches, {.truncate = true}).vectors;
    const auto logit = [&](std::size_t text, std::size_t match) {
      const Numbers x = ToDouble(a.ViewRows(static_cast<std::int64_t>(text), 1)),
                    y = ToDouble(b.ViewRows(static_cast<std::int64_t>(match), 1));
      double xy = 0, xx = 0, yy = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
      }
      return options.scale * xy / std::sqrt(xx * yy);
    };
    for (std::size_t i = 0; i < pairs; ++i) {
      std::vector<double> to_matches, to_texts;
      for (std::size_t j = 0; j < matches.size(); ++j) {
        if (j != i && matches[j] == matches[i]) continue;
        to_matches.push_back(logit(i, j));
        if (j < pairs) to_texts.push_back(logit(j, i));
      }
      loss += (LogOfSum(to_matches) + LogOfSum(to_texts)) / 2 - logit(i, i);
      recall += std::ranges::max(to_matches) == logit(i, i) ? 100.0 / static_cast<double>(pairs) : 0;
    }
    loss /= static_cast<double>(pairs);
  }
  double loss = 0, recall = 0;
};

// A copy of the folder, optionally with pooling of the first token.
struct Sentences {
  explicit Sentences(bool first_token = false) {
    std::filesystem::copy(kFolder, folder.path(), std::filesystem::copy_options::recursive);
    if (first_token)
      WriteFile(
          folder.File("1_Pooling/config.json"),
          R"({"word_embedding_dimension": 12, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
    model = LoadModel<TextEncoder>(folder.path(), {.dropout = {.all = 0, .attention = 0}});
    tokenizer.emplace(PipelineTokenizer::Load(folder.path()));
  }
  TrainingTask Task(const SentenceVectorOptions& options) {
    return SentenceVectorTask(*model, *tokenizer, pairs, pairs, options);
  }
  TemporaryFolder folder;
  const std::vector<SimilarTexts> pairs = Pairs();
  std::unique_ptr<TextEncoder> model;
  std::optional<PipelineTokenizer> tokenizer;
};

const BatchOptions kAll{.batch_size = 5};

TEST(SentenceVectors, HaveTheLossOfEmbeddersVectors) {
  for (const SentenceVectorOptions& options :
       std::vector<SentenceVectorOptions>{{.batches = kAll, .longest = 20},
                                          {.batches = kAll, .scale = 3, .longest = 20},
                                          {.batches = kAll, .first_token = true, .longest = 20},
                                          {.batches = kAll, .longest = 20, .prompt = "dogs: "}}) {
    Sentences sentences(options.first_token);
    const Embedder embedder = Embedder::Load(sentences.folder.path());
    const TrainingTask task = sentences.Task(options);
    const ValidationReport report = task.validate({});
    const Expected valid(embedder, options, /*with_negatives=*/false);
    EXPECT_NEAR(report.loss, valid.loss, 1e-4 * valid.loss);
    EXPECT_NEAR(report.score, valid.recall, 1e-9);
    const TrainingBatch batch = task.batches({})();
    ASSERT_EQ(batch.labels, 5);
    sentences.model->parameters().PrepareTraining();
    const double loss =
        ComputeGradients(sentences.model->parameters(), task.loss, batch.parts, {.labels = batch.labels, .seed = 1});
    const Expected train(embedder, options, /*with_negatives=*/true);
    EXPECT_NEAR(loss, train.loss, 1e-4 * train.loss);
    EXPECT_GT(train.loss, valid.loss + 1e-3);  // negatives increase the loss
  }
}

TEST(SentenceVectors, HaveTheSameGradientInMicroBatches) {
  NamedNumbers expected;
  double loss = 0;
  for (const std::int64_t part : {std::numeric_limits<std::int64_t>::max(), std::int64_t{2}, std::int64_t{1}}) {
    Sentences sentences;
    const TrainingTask task = sentences.Task({.batches = kAll, .part = part, .longest = 20});
    const TrainingBatch batch = task.batches({})();
    Parameters& parameters = sentences.model->parameters();
    parameters.PrepareTraining();
    const double own = ComputeGradients(parameters, task.loss, batch.parts, {.labels = batch.labels, .seed = 1});
    if (expected.empty()) {
      expected = ByName(parameters, &Parameter::gradient);
      loss = own;
    }
    EXPECT_NEAR(own, loss, 1e-6 * loss) << part;
    EXPECT_LT(Deviation(ByName(parameters, &Parameter::gradient), expected), 2e-6) << part;
  }
}

TEST(SentenceVectors, NameInvalidOptions) {
  Sentences sentences;
  EXPECT_THAT(ErrorOf([&] { sentences.Task({.batches = {.batch_size = 1}}); }), HasSubstr("at least 2 pairs"));
  EXPECT_THAT(ErrorOf([&] { sentences.Task({.batches = kAll, .part = 0}); }), HasSubstr("at least 1 pair"));
  EXPECT_THAT(ErrorOf([&] { SentenceVectorTask(*sentences.model, *sentences.tokenizer, {}, sentences.pairs, {}); }),
              HasSubstr("no texts to train on"));
}

}  // namespace
}  // namespace headlight::sentence_training_test
