#include "headlight/ops/smooth_lddt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::smooth_lddt_test {
namespace {

using Marks = std::vector<std::uint8_t>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Tests three points on a line. The third point is beyond the radius of the first two points.
TEST(SmoothLddt, CountsDistancesWithinReach) {
  const Tensor truth = Tensor::From<double>({0, 0, 0, 3, 0, 0, 40, 0, 0}, {3, 3});
  const Tensor predicted = Tensor::From<double>({1, 1, 1, 1, 1, 5.5, 0, 0, 0}, {3, 3});
  const double right = (Sigmoid(0.5 - 1.5) + Sigmoid(1 - 1.5) + Sigmoid(2 - 1.5) + Sigmoid(4 - 1.5)) / 4;
  EXPECT_NEAR(SmoothLddtLoss(predicted, truth, Marks{1, 1, 1}, 2).data<double>()[0], 2 * (1 - right), 1e-4);
  EXPECT_EQ(SmoothLddtLoss(predicted, truth, Marks{1, 0, 1}, 2).data<double>()[0], 0);
}

TEST(SmoothLddt, Gradients) {
  const Tensor truth = RandomTensor({9, 3}, 1, 8);
  const auto f = [&](const std::vector<Tensor>& in) {
    return SmoothLddtLoss(in[0], truth, Marks{1, 1, 0, 1, 1, 1, 1, 0, 1}, 3);
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({9, 3}, 2, 6)}));
}

TEST(SmoothLddt, RejectsOtherShapes) {
  const Tensor points = RandomTensor({4, 3}, 1);
  EXPECT_THROW(SmoothLddtLoss(points, points, Marks(3, 1), 1), Error);
  EXPECT_THROW(SmoothLddtLoss(points, RandomTensor({5, 3}, 1), Marks(4, 1), 1), Error);
  EXPECT_THROW(SmoothLddtLoss(RandomTensor({4, 2}, 1), RandomTensor({4, 2}, 1), Marks(4, 1), 1), Error);
}

}  // namespace
}  // namespace headlight::ops::smooth_lddt_test
