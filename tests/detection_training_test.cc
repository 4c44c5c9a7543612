// Tests the training of a detector on synthetic scenes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/train/gradients.h"
#include "headlight/train/optimizer.h"
#include "tests/detection_training_testing.h"

namespace headlight::detection_training_test {
namespace {

constexpr SceneOptions kScenes = {.height = 64, .width = 64, .fewest = 1, .most = 2};

// Returns the mean loss of each step over four scenes.
std::vector<double> Losses(int steps, std::uint64_t seed) {
  const DetectionSet set = Scenes(0, 4, kScenes);
  Detr model(SmallDetr(16));
  model.parameters().Initialize(seed);
  const TrainingTask task =
      DetectionTask(model, SceneProcessor(64), set, set, SceneReader(kScenes), SceneSizeReader(kScenes),
                    {.batches = {.batch_size = 4, .seed = seed}, .augment = BoxAugmentation::none});
  Optimizer optimizer({.beta2 = 0.999, .epsilon = 1e-8, .clip_norm = 0.1}, model.parameters());
  model.parameters().PrepareTraining();
  const auto next = task.batches({});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const TrainingBatch batch = next();
    EXPECT_EQ(batch.labels, 4);
    losses.push_back(
        ComputeGradients(model.parameters(), task.loss, batch.parts, {.labels = batch.labels, .seed = seed}));
    optimizer.Step(model.parameters(), 1e-3);
  }
  return losses;
}

TEST(DetectionTraining, FitsAFewScenes) {
  const std::vector<double> losses = Losses(40, 1);
  EXPECT_LT(losses.back(), 0.6 * losses.front());
}

// Checks that an object without an area is never detected, as in pycocotools.
TEST(DetectionTraining, EvaluationCountsBoxesWithoutAnArea) {
  const DetectionSet set = Scenes(0, 4, kScenes);
  Detr model(SmallDetr(16));
  model.parameters().Initialize(1);
  // Finds a class that no object has.
  std::int32_t unseen = 0;
  const auto has = [&](const DetectionExample& example) {
    return std::ranges::any_of(example.boxes, [&](const LabeledBox& box) { return box.label == unseen; });
  };
  while (std::ranges::any_of(set.examples, has)) ++unseen;
  ASSERT_LT(unseen, std::ssize(model.labels()));
  DetectionSet more = set;
  more.examples[0].without_area.push_back({.box = {3, 3, 3, 9}, .label = unseen});
  const auto evaluate = [&](const DetectionSet& valid) {
    return EvaluateDetection(model, SceneProcessor(64), valid, SceneReader(kScenes), {});
  };
  const DetectionEvaluation before = evaluate(set), after = evaluate(more);
  EXPECT_EQ(after.report.loss, before.report.loss);
  EXPECT_TRUE(std::isnan(before.scores.class_ap[static_cast<std::size_t>(unseen)]));
  EXPECT_EQ(after.scores.class_ap[static_cast<std::size_t>(unseen)], 0);
}

// Checks images with EXIF rotation if the annotations have the size before the rotation.
TEST(DetectionTraining, RefusesSizesOtherThanTheDecodedImages) {
  DetectionSet set = Scenes(0, 2, kScenes);
  Detr model(SmallDetr(16));
  model.parameters().Initialize(1);
  set.examples[0].height = set.examples[0].width = 64;
  set.examples[1].height = 64;
  set.examples[1].width = 63;
  EXPECT_THAT(ErrorOf([&] { EvaluateDetection(model, SceneProcessor(64), set, SceneReader(kScenes), {}); }),
              testing::HasSubstr("annotation says 63 x 64"));
  const TrainingTask task = DetectionTask(model, SceneProcessor(64), set, set, SceneReader(kScenes),
                                          SceneSizeReader(kScenes), {.batches = {.batch_size = 2}});
  const auto next = task.batches({});
  EXPECT_THAT(ErrorOf([&] { next(); }), testing::HasSubstr("1: the decoded image"));
}

TEST(DetectionTraining, HasTheSameBitsWithAnyNumberOfThreads) {
  const int before = Threads();
  SetThreads(1);
  const std::vector<double> one = Losses(3, 2);
  SetThreads(3);
  EXPECT_EQ(Losses(3, 2), one);
  SetThreads(before);
}

// Checks that a batch stream resumes at any position with the same images and augmentations.
TEST(DetectionTraining, ResumesWithTheSameImages) {
  const DetectionSet set = Scenes(0, 5, kScenes);
  Detr model(SmallDetr(16));
  model.parameters().Initialize(1);
  const TrainingTask task = DetectionTask(model, SceneProcessor(64), set, set, SceneReader(kScenes),
                                          SceneSizeReader(kScenes), {.batches = {.batch_size = 2}});
  const auto loss_of = [&](const TrainingBatch& batch) {
    double sum = 0;
    for (const TrainingPart& part : batch.parts) {
      Context context;
      sum += static_cast<double>(task.loss(context, Made(part), 1).data<float>()[0]);
    }
    return sum;
  };
  const auto from_start = task.batches({});
  std::vector<double> losses;
  BatchPosition after_third;
  for (int i = 0; i < 6; ++i) {
    const TrainingBatch batch = from_start();
    losses.push_back(loss_of(batch));
    if (i == 2) after_third = batch.next;
  }
  EXPECT_EQ(after_third, (BatchPosition{1, 0}));
  EXPECT_NE(losses[0], losses[3]);
  const auto resumed = task.batches(after_third);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(loss_of(resumed()), losses[static_cast<std::size_t>(i)]);
}

TEST(DetectionTraining, DecodesOnlyTheImagesOfItsMicroBatch) {
  constexpr SceneOptions scenes = {.height = 96, .width = 128};
  const DetectionSet set = Scenes(0, 12, scenes);
  Detr model(SmallDetr(16));
  model.parameters().Initialize(1);
  std::atomic<std::size_t> decoded = 0;
  const ImageReader read = [&, draw = SceneReader(scenes)](const std::string& path) {
    ++decoded;
    return draw(path);
  };
  const TrainingTask task = DetectionTask(model, SceneProcessor(512), set, set, read, SceneSizeReader(scenes),
                                          {.batches = {.batch_size = 12}});
  const TrainingBatch batch = task.batches({})();
  EXPECT_EQ(decoded, 0U);
  EXPECT_GT(batch.parts.size(), 2U);
  std::vector<DetectionPart> parts;
  std::vector<TrueObjects> objects;
  for (const TrainingPart& part : batch.parts) {
    const std::size_t before = decoded;
    const DetectionPart& made = parts.emplace_back(Made(part).As<DetectionPart>());
    EXPECT_EQ(decoded, before + made.images.size());
    EXPECT_EQ(made.objects.size(), made.images.size());
    objects.insert(objects.end(), made.objects.begin(), made.objects.end());
  }
  EXPECT_EQ(decoded, 12U);
  const DetectionLossSums sums = DetectionLossSums::Of(objects, model.limits().queries, model.loss());
  for (const DetectionPart& part : parts) {
    EXPECT_EQ(part.sums.boxes, sums.boxes);
    EXPECT_EQ(part.sums.weights, sums.weights);
  }
}

// Checks the cell loss on 4 x 3 cells, with a large box over the left half and a small box in it.
TEST(DetectionTraining, CellLossMatchesCellsToBoxes) {
  DetectedImages found;
  found.grids = {{3, 4}};
  found.images = PackedSequences(std::vector<std::int32_t>{11});
  found.cells = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // the last cell is masked
  const std::vector<TrueObjects> objects = {{{0, 1}, {{0.25, 0.5, 0.5, 1}, {0.3, 0.2, 0.02, 0.02}}}};
  // A correct cell predicts the correct box, and the correct class with probability 1. Cell 1 contains the center of
  // the small box.
  const auto loss = [&](std::size_t wrong) {
    const QueryAnswers cells = {Tensor::Zeros({11, 3}), Tensor::Zeros({11, 4})};
    for (std::size_t cell = 0; cell < 11; ++cell) {
      const std::size_t label = cell == 1 ? 1 : cell % 4 < 2 ? 0 : 2;
      cells.logits.data<float>()[cell * 3 + (cell == wrong ? (label + 1) % 3 : label)] = 100;
      for (std::size_t i = 0; i < 4; ++i)
        cells.boxes.data<float>()[cell * 4 + i] = label == 2 ? 0.5F : static_cast<float>(objects[0].boxes[label][i]);
    }
    return CellLoss(cells, found, objects, {}, 1).data<float>()[0];
  };
  EXPECT_NEAR(loss(11), 0, 1e-5);
  const double weights = 6 + 5 * 0.1;  // six cells have an object
  EXPECT_NEAR(loss(0), 100 / weights, 1e-4);
  EXPECT_NEAR(loss(1), 100 / weights, 1e-4);
  EXPECT_NEAR(loss(2), 0.1 * 100 / weights, 1e-4);
}

TEST(DetectionTraining, RefitsADetectorToOtherClassesAndQueries) {
  DetrConfig config = SmallDetr(16);
  config.encoder_heads = 8;
  config.backbone.hidden = {8, 8, 8, 8};
  config.backbone.depths = {1, 1, 1, 1};
  config.masks = true;
  Detr model(config);
  model.parameters().Initialize(1);
  const auto differing = [&](const Detr& made) {
    std::vector<std::string> names;
    auto was = model.parameters().all().begin();
    for (const Parameter& is : made.parameters().all()) {
      EXPECT_EQ(was->names.front(), "detr." + is.names.front());
      if (!std::ranges::equal(was->value.span<float>(), is.value.span<float>())) names.push_back(is.names.front());
      ++was;
    }
    return names;
  };
  EXPECT_THAT(differing(*Refit(model, SceneLabels(), 10, 2)), testing::IsEmpty());
  const auto other = Refit(model, {"a"}, 7, 2);
  EXPECT_THAT(differing(*other),
              testing::ElementsAre("model.query_position_embeddings.weight", "class_labels_classifier.weight",
                                   "class_labels_classifier.bias"));
  EXPECT_EQ(other->labels(), std::vector<std::string>{"a"});
}

TEST(DetectionTraining, RefusesUnsupportedInput) {
  DetectionSet set = Scenes(0, 1, kScenes);
  Detr model(SmallDetr(16));
  model.parameters().Initialize(1);
  const auto error = [&](const DetectionSet& train) {
    return ErrorOf([&] {
      DetectionTask(model, SceneProcessor(64), train, set, SceneReader(kScenes), SceneSizeReader(kScenes), {});
    });
  };
  EXPECT_EQ(error(set), "");
  EXPECT_THAT(error({}), testing::HasSubstr("there is no image to train on"));
  DetectionSet foreign = set;
  foreign.examples[0].boxes[0].label = 6;
  EXPECT_THAT(error(foreign), testing::HasSubstr("0: class 6"));
}

}  // namespace
}  // namespace headlight::detection_training_test
