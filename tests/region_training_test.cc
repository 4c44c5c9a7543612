// Trains a ViLBERT on synthetic scenes. The model must answer questions that require the image. If trained on captions,
// it must predict masked words and regions, and match images with captions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/image/box_regions.h"
#include "headlight/models/lxmert.h"
#include "headlight/models/vilbert.h"
#include "headlight/synthetic/scene_questions.h"
#include "headlight/train/objectives/image_text_pretraining.h"
#include "headlight/train/objectives/visual_question_answering.h"
#include "headlight/train/trainer.h"
#include "tests/region_training_testing.h"

namespace headlight::region_training_test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSide = 6;

std::unique_ptr<Vilbert> SmallVilbert(const WordIds& words, bool pretraining, const std::vector<std::string>& labels) {
  const VilbertStream stream = {
      .model = 48, .layers = 2, .heads = 2, .ffn = 96, .dropout = 0, .attention_dropout = 0, .joins = {1}};
  VilbertConfig config;
  config.text = config.image = stream;
  config.joint = 48;
  config.joint_heads = 2;
  config.vocabulary = words.size();
  config.positions = 40;
  config.features = 3 * kSide * kSide;
  config.region_classes = kSceneKinds * kSceneColors;
  config.pretraining = pretraining;
  config.labels = labels;
  auto model = std::make_unique<Vilbert>(config);
  model->parameters().Initialize(5);
  return model;
}

TEST(RegionTraining, AnswersQuestionsFromTheImage) {
  const TemporaryFolder folder;
  WordIds words;
  SceneQuestions train, valid;
  train.Add(1, 700, Portion::training, {.side = 32, .most = 2}, kSide, words);
  valid.Add(2, 150, Portion::held_out, {.side = 32, .most = 2}, kSide, words);
  const double by_question = QuestionOnlyAccuracy(train, valid);
  const auto model = SmallVilbert(words, /*pretraining=*/false, SceneAnswers(SceneLanguage::english));
  const TrainingTask task = VisualQuestionTask(*model, train.set, valid.set, {.batch_size = 64});
  const ValidationReport report = LastReport(task, 8, 0.003, folder.File("checkpoint"));
  EXPECT_EQ(report.score_name, "accuracy");
  EXPECT_GT(report.score, by_question + 15) << by_question;
  ASSERT_EQ(report.more_scores.size(), 4U);
  EXPECT_EQ(report.more_scores[1].name, "accuracy_which_colour");
  EXPECT_GT(report.more_scores[1].value, 60);
}

TEST(RegionTraining, PredictsMaskedWordsAndRegions) {
  const TemporaryFolder folder;
  WordIds words;
  ImageTextPairs train, valid;
  AddCaptions(1, 700, Portion::training, {.side = 32, .most = 2}, kSide, words, train);
  AddCaptions(2, 150, Portion::held_out, {.side = 32, .most = 2}, kSide, words, valid);
  const auto model = SmallVilbert(words, /*pretraining=*/true, {});
  const TrainingTask task = ImageTextPretraining(
      *model, train, valid,
      {.batches = {.batch_size = 64}, .masking = {.mask_id = WordIds::kMask, .special_ids = {0, 1, 2}}});
  const ValidationReport report = LastReport(task, 8, 0.003, folder.File("checkpoint"));
  ASSERT_EQ(report.more_scores.size(), 3U);
  EXPECT_GT(report.more_scores[0].value, 40);  // masked words; the grammar determines some, such as "a" and "and"
  EXPECT_GT(report.more_scores[1].value, 20);  // masked regions, from the caption; the chance level is 1 in 48
}

// Memorizes few pairs, since image-caption matching takes longer to train than words and regions.
TEST(RegionTraining, MatchesCaptionsWithImages) {
  const TemporaryFolder folder;
  WordIds words;
  ImageTextPairs pairs;
  AddCaptions(1, 12, Portion::training, {.side = 32, .most = 1}, kSide, words, pairs);
  const auto model = SmallVilbert(words, /*pretraining=*/true, {});
  const PretrainingOptions options = {.batches = {.batch_size = 24},
                                      .masking = {.mask_id = WordIds::kMask, .special_ids = {0, 1, 2}}};
  const TrainingTask task = ImageTextPretraining(*model, pairs, pairs, options);
  EXPECT_GT(LastReport(task, 200, 0.003, folder.File("checkpoint")).more_scores[2].value, 80);
}

// Checks that matching pairs have the second class in LXMERT and the first class in ViLBERT.
TEST(RegionTraining, FamiliesDifferInTheClassOfMatchingPairs) {
  WordIds words;
  ImageTextPairs pairs;
  AddCaptions(1, 6, Portion::training, {.side = 32}, kSide, words, pairs);
  for (ImageRegions& image : pairs.images) {
    const std::int64_t regions = image.boxes.rows();
    image.boxes = image.boxes.ViewColumns(0, 4).Clone().ViewAs({regions, 4});
  }
  LxmertConfig config;
  config.bert = {.model = 16,
                 .layers = 1,
                 .heads = 2,
                 .ffn = 16,
                 .vocabulary = words.size(),
                 .positions = 40,
                 .on_top = {},
                 .scope = "lxmert"};
  config.image_layers = config.cross_layers = 1;
  config.features = 3 * kSide * kSide;
  config.objects = kSceneKinds * kSceneColors;
  config.pretraining = true;
  config.answers_in_pretraining = false;
  Lxmert model(config);
  model.parameters().Initialize(1);
  for (Parameter& parameter : model.parameters().all())
    if (parameter.names.front() == "cls.seq_relationship.bias")
      parameter.value.CopyFrom(Tensor::From({0.F, 50.F}, {2}));
  const PretrainingOptions options = {.batches = {.batch_size = 24},
                                      .masking = {.mask_id = WordIds::kMask, .special_ids = {0, 1, 2}},
                                      .other_share = 0};
  EXPECT_EQ(ImageTextPretraining(model, pairs, pairs, options).validate({}).more_scores[2].value, 100);
}

// Checks that the losses of micro-batches sum to the loss of the whole batch.
TEST(RegionTraining, MicroBatchesHaveTheLossOfTheBatch) {
  WordIds words;
  ImageTextPairs pairs;
  AddCaptions(1, 120, Portion::training, {.side = 32}, kSide, words, pairs);
  const auto model = SmallVilbert(words, /*pretraining=*/true, {});
  const PretrainingOptions options = {.batches = {.batch_size = 240},
                                      .masking = {.mask_id = WordIds::kMask, .special_ids = {0, 1, 2}}};
  const TrainingTask task = ImageTextPretraining(*model, pairs, pairs, options);
  const TrainingBatch batch = task.batches({})();
  ASSERT_GT(batch.parts.size(), 1U);
  double loss = 0;
  for (const TrainingPart& part : batch.parts) {
    Context context;
    loss += static_cast<double>(task.loss(context, part, 1.0 / static_cast<double>(batch.labels)).data<float>()[0]);
  }
  // For an untrained model, each mean is close to the loss of a uniform prediction.
  const double guess = std::log(static_cast<double>(words.size())) + std::log(48.0) + std::log(2.0);
  EXPECT_NEAR(loss, guess, 0.25 * guess);
}

// Checks that predictions do not depend on masked regions. Nine in ten masked regions get zero features.
TEST(RegionTraining, MaskedRegionsAreNotUsed) {
  WordIds words;
  ImageTextPairs pairs;
  AddCaptions(1, 20, Portion::training, {.side = 32, .most = 1}, kSide, words, pairs);
  const auto model = SmallVilbert(words, /*pretraining=*/true, {});
  const TrainingTask task = ImageTextPretraining(*model, pairs, pairs,
                                                 {.batches = {},
                                                  .masking = {.mask_id = WordIds::kMask, .special_ids = {0, 1, 2}},
                                                  .region_share = 1,
                                                  .other_share = 0});
  const double loss = task.validate({}).loss;
  int unseen = 0;
  for (ImageRegions& image : pairs.images) {
    const Tensor before = image.features.Clone();
    image.features.ViewRows(1, 1).Fill(3);
    unseen += task.validate({}).loss == loss ? 1 : 0;
    image.features = before;
  }
  EXPECT_GT(unseen, 10);  // each image has two captions
  EXPECT_LT(unseen, 20);
}

// Checks that pairs with another image's text train only the alignment, since the text has no information about masked
// words and regions.
TEST(RegionTraining, NegativePairsOnlyTrainAlignment) {
  WordIds words;
  ImageTextPairs pairs;
  AddCaptions(1, 2, Portion::training, {.side = 32}, kSide, words, pairs);
  pairs.pairs = {pairs.pairs[0], pairs.pairs[2]};  // one pair per image
  const auto model = SmallVilbert(words, /*pretraining=*/true, {});
  double least = INFINITY, most = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TrainingTask task = ImageTextPretraining(*model, pairs, pairs,
                                                   {.batches = {.batch_size = 2, .seed = seed},
                                                    .masking = {.mask_id = WordIds::kMask, .special_ids = {0, 1, 2}},
                                                    .other_share = 1});
    Context context;
    const TrainingBatch batch = task.batches({})();
    const double loss = task.loss(context, batch.parts.front(), 0.5).data<float>()[0];
    least = std::min(least, loss);
    most = std::max(most, loss);
  }
  EXPECT_LT(least, 1.5);  // about log(2), if each pair has the other pair's text
  // If each pair keeps its text, the loss includes one word of about twenty and one region class of 48.
  EXPECT_GT(most, 4);
}

TEST(RegionTraining, RefusesInvalidInput) {
  WordIds words;
  SceneQuestions questions;
  questions.Add(1, 4, Portion::training, {.side = 32}, kSide, words);
  const auto answering = SmallVilbert(words, false, {"a", "b"});
  const auto pretrained = SmallVilbert(words, true, {});
  EXPECT_THAT(ErrorOf([&] { VisualQuestionTask(*pretrained, questions.set, questions.set, {}); }),
              HasSubstr("no head for answers"));
  EXPECT_THAT(ErrorOf([&] { ImageTextPretraining(*answering, {}, {}, {}); }), HasSubstr("heads for words"));
  EXPECT_THAT(ErrorOf([&] { ImageTextPretraining(*pretrained, {}, {}, {}); }), HasSubstr("no text with an image"));
  VisualQuestions other = questions.set;
  for (VisualQuestion& question : other.questions) question.answer = 0;
  EXPECT_EQ(ErrorOf([&] { VisualQuestionTask(*answering, other, other, {}); }), "");
  other.images[1].features = Tensor::Zeros({2, 7});
  EXPECT_THAT(ErrorOf([&] { VisualQuestionTask(*answering, other, other, {}); }),
              HasSubstr("[regions, 108] and [regions, 5], not"));
  other = questions.set;
  for (VisualQuestion& question : other.questions) question.answer = -1;
  EXPECT_THAT(ErrorOf([&] { VisualQuestionTask(*answering, other, other, {}); }), HasSubstr("the model does not have"));
}

}  // namespace
}  // namespace headlight::region_training_test
