#include "headlight/ops/points.h"

#include <gtest/gtest.h>

#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::points_test {
namespace {

// A rotation by 90 degrees about z, then a translation by (1, 2, 3).
const Tensor kFrame = Tensor::From<float>({0, -1, 0, 1, 0, 0, 0, 0, 1, 1, 2, 3}, {1, 12});

TEST(Points, ToGlobalRotatesAndTranslates) {
  const Tensor points = Tensor::From<float>({5, 0, 0, 6, 0, 7}, {1, 6});  // (5, 0, 0) and (0, 6, 7)
  const Tensor moved = ToGlobal(kFrame, points);
  EXPECT_EQ(moved.ToVector<float>(), (std::vector<float>{1, -5, 7, 2, 3, 10}));
  EXPECT_EQ(ToLocal(kFrame, moved).ToVector<float>(), points.ToVector<float>());
  EXPECT_EQ(PointNorms(points, 11).ToVector<float>(), (std::vector<float>{6, std::sqrt(96.F)}));
}

TEST(Points, Gradients) {
  const Tensor frames = RandomTensor({3, 12}, 1), points = RandomTensor({3, 6}, 2);
  const auto to_global = [](const std::vector<Tensor>& in) { return ToGlobal(in[0], in[1]); };
  const auto to_local = [](const std::vector<Tensor>& in) { return ToLocal(in[0], in[1]); };
  const auto norms = [](const std::vector<Tensor>& in) { return PointNorms(in[0], 0.1); };
  EXPECT_EQ("", CheckGradients(to_global, {frames, points}));
  EXPECT_EQ("", CheckGradients(to_local, {frames, points}));
  EXPECT_EQ("", CheckGradients(norms, {points}));
}

TEST(Points, RejectOtherShapes) {
  EXPECT_THROW(ToGlobal(kFrame, Tensor::Zeros({1, 4})), Error);
  EXPECT_THROW(ToLocal(kFrame, Tensor::Zeros({2, 6})), Error);
  EXPECT_THROW(PointNorms(Tensor::Zeros({2, 4}), 0), Error);
}

}  // namespace
}  // namespace headlight::ops::points_test
