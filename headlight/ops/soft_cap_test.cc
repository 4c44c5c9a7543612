#include "headlight/ops/soft_cap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::soft_cap_test {
namespace {

TEST(SoftCap, MatchesTheDefinition) {
  const Tensor x = RandomTensor({5, 7}, 1);
  for (const double cap : {0.6, 4.0}) {
    const auto f = [&](const std::vector<Tensor>& in) { return SoftCap(in[0], cap); };
    EXPECT_EQ("", CheckGradients(f, {x}));
    const std::vector<double> from = x.ToVector<double>(), to = SoftCap(x, cap).ToVector<double>();
    for (std::size_t i = 0; i < from.size(); ++i) EXPECT_NEAR(to[i], cap * std::tanh(from[i] / cap), 1e-12);
  }
}

TEST(SoftCap, IsTheIdentityForZero) {
  const Tensor x = RandomTensor({2, 3}, 1);
  EXPECT_EQ(SoftCap(x, 0).data<double>(), x.data<double>());
  for (const double cap : {-1.0, std::nan(""), HUGE_VAL}) EXPECT_THROW(SoftCap(x, cap), Error);
}

}  // namespace
}  // namespace headlight::ops::soft_cap_test
