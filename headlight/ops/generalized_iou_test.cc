#include "headlight/ops/generalized_iou.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::ops::generalized_iou_test {
namespace {

TEST(GeneralizedIou, KnownValues) {
  EXPECT_DOUBLE_EQ(GeneralizedIou({5, 5, 2, 4}, {5, 5, 2, 4}), 1);
  EXPECT_DOUBLE_EQ(GeneralizedIou({1, 1, 2, 2}, {2, 1, 2, 2}), 1.0 / 3);  // intersection 2, union 6, no uncovered area
  EXPECT_DOUBLE_EQ(GeneralizedIou({1, 1, 2, 2}, {7, 1, 2, 2}), -0.5);     // boxes are apart: 8 of 16 are uncovered
  EXPECT_DOUBLE_EQ(GeneralizedIou({2, 2, 4, 4}, {2, 2, 2, 2}), 0.25);     // one box contains the other
  EXPECT_NEAR(GeneralizedIou({1, 1, 2, 2}, {2, 2, 2, 2}), 1.0 / 7 - 2.0 / 9, 1e-15);
  EXPECT_DOUBLE_EQ(GeneralizedIou({1, 1, 0, 2}, {1, 1, 2, 2}), 0);  // one box has no area
}

// Tests pairs of boxes that overlap, are nested, overlap on one axis only, or are apart.
TEST(GeneralizedIou, Gradients) {
  const Tensor boxes = Tensor::From<double>({0.5, 0.5, 0.4, 0.3, 0.5, 0.5,  0.2, 0.1, 0.5,  0.5, 0.6, 0.7,
                                             0.2, 0.3, 0.1, 0.2, 0.2, 0.55, 0.1, 0.2, 0.55, 0.1, 0.2, 0.1},
                                            {6, 4});
  const std::vector<CenteredBox> targets = {{0.6, 0.45, 0.35, 0.41}, {0.51, 0.49, 0.5, 0.6}, {0.52, 0.47, 0.1, 0.2},
                                            {0.8, 0.9, 0.15, 0.1},   {0.7, 0.5, 0.2, 0.32},  {0.52, 0.8, 0.3, 0.2}};
  EXPECT_EQ(CheckGradients([&](const auto& in) { return GeneralizedIouLoss(in[0], targets, 0.3); }, {boxes}), "");
  EXPECT_EQ(CheckGradients(
                [&](const auto& in) {
                  const Tensor loss = GeneralizedIouLoss(in[0], targets, 0.3);
                  return Multiply(loss, loss);
                },
                {boxes}),
            "");
}

TEST(GeneralizedIou, RejectsShapesThatDoNotFit) {
  const Tensor boxes = RandomTensor({1, 4}, 1), three = RandomTensor({1, 3}, 1);
  const std::vector<CenteredBox> one = {{0, 0, 1, 1}}, two = {{0, 0, 1, 1}, {0, 0, 1, 1}}, line = {{0, 0, 1, 0}};
  EXPECT_THAT(ErrorOf([&] { GeneralizedIouLoss(three, one, 1); }), testing::HasSubstr("boxes [1, 3]"));
  EXPECT_THAT(ErrorOf([&] { GeneralizedIouLoss(boxes, two, 1); }), testing::HasSubstr("2 targets"));
  EXPECT_THAT(ErrorOf([&] { GeneralizedIouLoss(boxes, line, 1); }), testing::HasSubstr("target of 1 x 0"));
}

}  // namespace
}  // namespace headlight::ops::generalized_iou_test
