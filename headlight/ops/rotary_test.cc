#include "headlight/ops/rotary.h"

#include <gmock/gmock.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/view.h"

namespace headlight::ops::rotary_test {
namespace {

using Inputs = std::vector<Tensor>;

TEST(Rotary, RotatesPairs) {
  // One head of size 4: the first pair is rotated by 90 degrees, the second pair by 180 degrees. The other token is
  // unchanged.
  const RotaryAngles angles{
      Tensor::From<float>({1, 1, 0, -1}, {2, 2}), Tensor::From<float>({0, 0, 1, 0}, {2, 2}), {1, 0}};
  const Tensor x = Tensor::From<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  EXPECT_EQ(Rotary(x, angles).ToVector<float>(), (std::vector<float>{-3, -2, 1, -4, 5, 6, 7, 8}));
  RotaryAngles adjacent = angles;
  adjacent.pairs = kernels::RotaryPairs::adjacent;
  EXPECT_EQ(Rotary(x, adjacent).ToVector<float>(), (std::vector<float>{-2, 1, -3, -4, 5, 6, 7, 8}));
}

TEST(Rotary, Gradients) {
  for (const std::int64_t half : {1, 3, 8})
    for (const auto pairs : {kernels::RotaryPairs::halves, kernels::RotaryPairs::adjacent}) {
      const RotaryAngles angles{.cosines = RandomTensor({3, half}, 1),
                                .sines = RandomTensor({3, half}, 2),
                                .indices = {0, 2, 1, 2},
                                .pairs = pairs};
      const auto whole = [&](const Inputs& in) { return Rotary(in[0], angles); };
      EXPECT_EQ(CheckGradients(whole, {RandomTensor({4, 4 * half}, 3)}), "") << half;
      const auto part = [&](const Inputs& in) { return Rotary(Columns(in[0], 2, 2 * half), angles); };
      EXPECT_EQ(CheckGradients(part, {RandomTensor({4, 2 * half + 3}, 4)}), "") << half;
    }
}

TEST(Rotary, LeavesTheRestOfAPartialHead) {
  const RotaryAngles angles{
      .cosines = RandomTensor({3, 2}, 1), .sines = RandomTensor({3, 2}, 2), .indices = {0, 2}, .head_dim = 7};
  const Tensor x = RandomTensor({2, 14}, 3), y = Rotary(x, angles);
  for (const std::int64_t row : {0, 1})
    for (const std::int64_t column : {4, 5, 6, 11, 12, 13})
      EXPECT_EQ(y.matrix<double>().row(row)[column], x.matrix<double>().row(row)[column]);
  EXPECT_EQ(CheckGradients([&](const Inputs& in) { return Rotary(in[0], angles); }, {x}), "");
}

TEST(Rotary, NamesTheShapesThatDoNotFit) {
  const auto rotate = [](const Shape& x, std::vector<std::int32_t> indices) {
    Rotary(RandomTensor(x, 1), {RandomTensor({2, 3}, 1), RandomTensor({2, 3}, 2), std::move(indices)});
  };
  using testing::HasSubstr;
  EXPECT_THAT([&] { rotate({1, 8}, {0}); }, testing::ThrowsMessage<Error>(HasSubstr("[1, 8]")));
  EXPECT_THAT([&] { rotate({2, 6}, {0}); }, testing::ThrowsMessage<Error>(HasSubstr("1 tokens")));
  EXPECT_THAT([&] { rotate({1, 6}, {2}); }, testing::ThrowsMessage<Error>(HasSubstr("row 2")));
}

}  // namespace
}  // namespace headlight::ops::rotary_test
