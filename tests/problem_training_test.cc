// Compares the training of text classifiers for each problem_type with Hugging Face Transformers.
// tools/make_problem_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/train/gradients.h"
#include "headlight/train/objectives/classification.h"
#include "tests/parity_testing.h"

namespace headlight::problem_training_test {
namespace {

using testing::HasSubstr;

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify";

// Returns the golden's model with a problem_type.
std::unique_ptr<TextEncoder> ModelOf(const std::string& problem) {
  const TemporaryFolder folder;
  std::filesystem::copy(kFolder, folder.path());
  Json config = ReadJson(folder.File("config.json")).value();
  config.Set("problem_type", problem);
  for (const char* dropout : {"hidden_dropout_prob", "attention_probs_dropout_prob"}) config.Set(dropout, 0.0);
  WriteFile(folder.File("config.json"), config.Text());
  return LoadModel<TextEncoder>(folder.path());
}

TextSets SetsOf(bool numbers) {
  std::vector<TextExample> texts(3);
  texts[0].ids = {2, 5, 6, 7, 3};
  texts[1].ids = {2, 9, 3};
  texts[2].ids = {2, 4, 8, 10, 11, 12, 3};
  for (TextExample& text : texts) text.types.resize(text.ids.size());
  if (numbers) {
    texts[0].numbers = {0.5F, -1.25F, 3};
    texts[1].numbers = {2, 0, -0.75F};
    texts[2].numbers = {-4, 1.5F, 0.25F};
  } else {
    texts[0].labels = {0, 2};
    texts[2].labels = {0, 1};
  }
  return {texts, texts};
}

TEST(ProblemTraining, HasTransformersLossAndGradients) {
  const Safetensors golden(kFolder + "/problems.safetensors");
  const auto read = [&](const std::string& name) { return ToDouble(golden.Read(name, DType::float64)); };
  for (const std::string problem : {"regression", "multi_label_classification"}) {
    const std::unique_ptr<TextEncoder> model = ModelOf(problem);
    const TextSets sets = SetsOf(problem == "regression");
    const TrainingTask task = ClassificationTask(*model, sets, {});
    Parameters& parameters = model->parameters();
    parameters.PrepareTraining();
    const TrainingBatch batch = task.batches({})();
    EXPECT_EQ(batch.labels, 3);
    const double loss = ComputeGradients(parameters, task.loss, batch.parts, {.labels = batch.labels, .seed = 1});
    EXPECT_NEAR(loss, read(problem + ".loss")[0], 2e-5) << problem;
    std::size_t compared = 0;
    for (const Parameter& parameter : parameters.all()) {
      Numbers expected;  // concatenated if the parameter is stored as several tensors
      for (const std::string& name : parameter.names) {
        const Numbers part = read(problem + ".gradient." + name);
        expected.insert(expected.end(), part.begin(), part.end());
        ++compared;
      }
      EXPECT_LT(Deviation(ToDouble(parameter.gradient), expected), 2e-5) << problem << " " << parameter.names.front();
    }
    EXPECT_EQ(compared, golden.tensors().size() / 2 - 1);
    EXPECT_NEAR(task.validate({}).loss, loss, 1e-5);
  }
}

TEST(ProblemTraining, ScoresRegressionByCorrelations) {
  const std::unique_ptr<TextEncoder> model = ModelOf("regression");
  const TextSets sets = SetsOf(true);
  const ValidationReport report = ValidateClasses(*model, sets.valid);
  EXPECT_EQ(report.score_name, "pearson");
  ASSERT_EQ(report.more_scores.size(), 1U);
  EXPECT_EQ(report.more_scores[0].name, "spearman");
  for (const double score : {report.score, report.more_scores[0].value}) {
    EXPECT_GE(score, -1);
    EXPECT_LE(score, 1);
  }
  EXPECT_EQ(report.perplexity, 0);
  EXPECT_TRUE(report.classes.empty());
}

// Checks the F1 scores. If the labels equal the predictions, the F1 scores are 1. If one label is missing, the micro F1
// is lower.
TEST(ProblemTraining, ScoresSeveralLabelsByTheirF1) {
  const std::unique_ptr<TextEncoder> model = ModelOf("multi_label_classification");
  std::vector<TextExample> texts = SetsOf(false).valid;
  std::int64_t found = 0;
  for (TextExample& text : texts) {
    Context context;
    const Sequences all = {{0, static_cast<std::int32_t>(text.ids.size())}};
    const Tensor logits = model->SequenceClassLogits(context, model->Encode(context, text.ids, text.types, all), all);
    text.labels.clear();
    for (std::int32_t label = 0; label < 3; ++label)
      if (logits.data<float>()[label] >= 0) text.labels.push_back(label);
    found += std::ssize(text.labels);
  }
  ASSERT_GT(found, 1);
  const ValidationReport right = ValidateClasses(*model, texts);
  EXPECT_EQ(right.score_name, "micro_f1");
  EXPECT_DOUBLE_EQ(right.score, 100);
  for (TextExample& text : texts)
    if (!text.labels.empty()) {
      text.labels.pop_back();
      break;
    }
  const double missing = ValidateClasses(*model, texts).score;
  EXPECT_NEAR(missing, 200.0 * static_cast<double>(found - 1) / static_cast<double>(2 * found - 1), 1e-9);
}

TEST(ProblemTraining, RefusesLabelsOfAnotherProblem) {
  const std::unique_ptr<TextEncoder> numbers = ModelOf("regression"), one = ModelOf("single_label_classification"),
                                     several = ModelOf("multi_label_classification");
  const TextSets with_numbers = SetsOf(true), with_labels = SetsOf(false);
  EXPECT_THAT(ErrorOf([&] { ClassificationTask(*numbers, with_labels, {}); }), HasSubstr("must have 3 numbers"));
  EXPECT_THAT(ErrorOf([&] { ClassificationTask(*several, with_numbers, {}); }), HasSubstr("must be of 3 classes"));
  EXPECT_THAT(ErrorOf([&] { ClassificationTask(*one, with_labels, {}); }), HasSubstr("one of 3 classes"));
  EXPECT_THAT(ErrorOf([&] { ClassificationTask(*several, with_labels, {}, {1, 1, 2}); }), HasSubstr("`class_weights`"));
}

}  // namespace
}  // namespace headlight::problem_training_test
