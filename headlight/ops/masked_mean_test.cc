#include "headlight/ops/masked_mean.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::masked_mean_test {
namespace {

TEST(MaskedMean, KnownValues) {
  const Tensor x = Tensor::From<float>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {6, 2});  // 3 rows of 2 entries
  EXPECT_EQ(MaskedMean(x, 2).ToVector<float>(), (std::vector<float>{5, 6, 7, 8}));
  const std::vector<std::uint8_t> present = {1, 0, 1, 0, 0, 0};
  EXPECT_EQ(MaskedMean(x, 2, present, 0.5).ToVector<float>(), (std::vector<float>{2.4F, 3.2F, 0, 0}));
}

TEST(MaskedMean, Gradients) {
  const std::vector<std::uint8_t> some = {1, 0, 1, 1, 0, 1};
  for (const auto& present : {std::vector<std::uint8_t>(), some}) {
    const auto f = [&](const std::vector<Tensor>& in) { return MaskedMean(in[0], 3, present, 0.1); };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({6, 2}, 1)}));
  }
}

TEST(MaskedMean, RejectsOtherShapes) {
  EXPECT_THROW(MaskedMean(Tensor::Zeros({5, 2}), 2), Error);
  EXPECT_THROW(MaskedMean(Tensor::Zeros({4, 2}), 2, std::vector<std::uint8_t>(3)), Error);
}

}  // namespace
}  // namespace headlight::ops::masked_mean_test
