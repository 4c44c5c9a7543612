#include "headlight/nn/detection_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"

namespace headlight::detection_loss_test {
namespace {

std::vector<double> NumbersOf(const JsonView& array) {
  std::vector<double> numbers;
  for (const JsonView& item : array.Items()) numbers.push_back(item.Number());
  return numbers;
}

std::vector<TrueObjects> ImagesOf(const JsonView& golden) {
  std::vector<TrueObjects> images;
  for (const JsonView& image : golden["images"].Items()) {
    TrueObjects& objects = images.emplace_back();
    for (const JsonView& label : image["labels"].Items())
      objects.labels.push_back(static_cast<std::int32_t>(label.Integer()));
    const std::vector<double> numbers = NumbersOf(image["boxes"]);
    for (std::size_t i = 0; i < numbers.size(); i += 4)
      objects.boxes.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
  }
  return images;
}

double Largest(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// Compares losses with reference values from tools/make_detection_loss_goldens.py.
TEST(DetectionLoss, MatchesTransformers) {
  const JsonView cases = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/nn/testdata/detection_loss.json");
  for (const JsonView& golden : cases.Items()) {
    SCOPED_TRACE(golden.location());
    const JsonView given = golden["options"];
    const auto option = [&](const char* name, double otherwise) { return given.Get(name, otherwise).Number(); };
    const DetectionLossOptions options = {.class_cost = option("class_cost", 1),
                                          .box_cost = option("bbox_cost", 5),
                                          .giou_cost = option("giou_cost", 2),
                                          .box_weight = option("bbox_loss_coefficient", 5),
                                          .giou_weight = option("giou_loss_coefficient", 2),
                                          .nothing_weight = option("eos_coefficient", 0.1)};
    const std::vector<TrueObjects> images = ImagesOf(golden);
    const std::int64_t queries = golden["queries"].Integer(), rows = queries * std::ssize(images);
    const DetectionLossSums sums = DetectionLossSums::Of(images, queries, options);
    Tape tape;
    std::vector<std::array<Tensor, 2>> layers;
    Tensor loss;
    for (const JsonView& layer : golden["layers"].Items()) {
      const auto leaf = [&](const char* name, std::int64_t columns) {
        return tape.Watch(Tensor::From(std::span<const double>(NumbersOf(layer[name])), {rows, columns}));
      };
      layers.push_back({leaf("logits", golden["classes"].Integer() + 1), leaf("boxes", 4)});
      const Tensor own = DetectionLoss({layers.back()[0], layers.back()[1]}, images, sums, options, 1);
      loss = loss.empty() ? own : ops::Add(loss, own);
    }
    EXPECT_NEAR(loss.ToVector<double>()[0], golden["loss"].Number(),
                1e-6);  // Transformers stores the weight of "no object" in single precision
    tape.Backward(loss);
    const std::vector<JsonView> expected = golden["layers"].Items();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      EXPECT_LT(Largest(tape.GradientOf(layers[i][0]).ToVector<double>(), NumbersOf(expected[i]["d_logits"])), 1e-7);
      EXPECT_LT(Largest(tape.GradientOf(layers[i][1]).ToVector<double>(), NumbersOf(expected[i]["d_boxes"])), 1e-7);
    }
  }
}

// Checks that the loss of a batch is the sum over its images, so that it can be computed in micro-batches.
TEST(DetectionLoss, IsASumOverImages) {
  const Tensor logits = RandomTensor({8, 4}, 1, 2), raw = RandomTensor({8, 4}, 2, 0.2);
  const Tensor boxes = ops::Add(raw, Tensor::From<double>({0.5, 0.5, 0.3, 0.3}, {4}));
  const std::vector<TrueObjects> images = {{{0, 2}, {{0.4, 0.4, 0.2, 0.3}, {0.6, 0.5, 0.5, 0.1}}}, {{}, {}}};
  const DetectionLossOptions options;
  const DetectionLossSums sums = DetectionLossSums::Of(images, 4, options);
  EXPECT_DOUBLE_EQ(sums.boxes, 2);
  EXPECT_DOUBLE_EQ(sums.weights, 2 + 0.1 * 6);
  const double all = DetectionLoss({logits, boxes}, images, sums, options, 0.7).ToVector<double>()[0];
  double sum = 0;
  for (std::int64_t i = 0; i < 2; ++i)
    sum += DetectionLoss({logits.ViewRows(4 * i, 4), boxes.ViewRows(4 * i, 4)},
                         std::span(images).subspan(static_cast<std::size_t>(i), 1), sums, options, 0.7)
               .ToVector<double>()[0];
  EXPECT_NEAR(all, sum, 1e-12);
}

TEST(DetectionLoss, LeavesObjectsUnmatchedIfQueriesAreTooFew) {
  const TrueObjects three = {{0, 0, 0}, {{0.1, 0.1, 0.1, 0.1}, {0.5, 0.5, 0.1, 0.1}, {0.9, 0.9, 0.1, 0.1}}};
  const Tensor logits = Tensor::Zeros({2, 2}, DType::float64);
  const Tensor boxes = Tensor::From<double>({0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, {2, 4});
  EXPECT_THAT(MatchQueries({logits, boxes}, 0, 2, three, {}), testing::ElementsAre(1, -1, 0));
  const Tensor broken = Tensor::From<double>({NAN, NAN, NAN, NAN, 0.1, 0.1, 0.1, 0.1}, {2, 4});
  EXPECT_THAT(MatchQueries({logits, broken}, 0, 2, {{0}, {{0.9, 0.9, 0.1, 0.1}}}, {}), testing::ElementsAre(1));
}

TEST(DetectionLoss, RejectsUnknownClasses) {
  const std::vector<TrueObjects> images = {{{2}, {{0.5, 0.5, 0.1, 0.1}}}};
  EXPECT_EQ(ErrorOf([&] {
              DetectionLoss({RandomTensor({2, 3}, 1), RandomTensor({2, 4}, 2)}, images, {}, {}, 1);
            }),
            "DetectionLoss: class 2 of 2");
}

}  // namespace
}  // namespace headlight::detection_loss_test
