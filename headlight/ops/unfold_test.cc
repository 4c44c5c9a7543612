#include "headlight/ops/unfold.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"

namespace headlight::ops::unfold_test {
namespace {

TEST(Unfold, GathersNeighborsWithinAText) {
  const Tensor x = Tensor::From({1.0, 10.0, 2.0, 20.0, 3.0, 30.0}, {3, 2});
  EXPECT_EQ(Unfold(x, {{0, 2}, {2, 1}}, 3).ToVector<double>(),
            (std::vector<double>{0, 1, 2, 0, 10, 20, 1, 2, 0, 10, 20, 0, 0, 3, 0, 0, 30, 0}));
  EXPECT_EQ(Unfold(x, {{0, 3}}, 1).ToVector<double>(), x.ToVector<double>());
}

TEST(Unfold, GradientsMatchFiniteDifferences) {
  for (const std::int64_t width : {1, 3, 5}) {
    const auto f = [&](const std::vector<Tensor>& in) { return Unfold(in[0], {{0, 4}, {4, 1}, {5, 2}}, width); };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({7, 2}, 1)}));
  }
}

TEST(Unfold, RejectsShapesThatDoNotFit) {
  const Tensor x = Tensor::Zeros({2, 2});
  EXPECT_NE(ErrorOf([&] { Unfold(x, {{0, 2}}, 2); }), "");
  EXPECT_NE(ErrorOf([&] { Unfold(x, {{0, 3}}, 3); }), "");
}

}  // namespace
}  // namespace headlight::ops::unfold_test
