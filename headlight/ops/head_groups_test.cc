#include "headlight/ops/head_groups.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::ops::head_groups_test {
namespace {

using Inputs = std::vector<Tensor>;

// Tests two key heads with two query heads each, of head_dim 1: q q k v, q q k v.
TEST(UngroupHeads, PutsQueriesBeforeKeysBeforeValues) {
  const Tensor x = Tensor::From<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 8});
  EXPECT_EQ(UngroupHeads(x, 2, 2, 1).ToVector<float>(), (std::vector<float>{1, 2, 5, 6, 3, 7, 4, 8}));
  EXPECT_EQ(UngroupHeads(x, 1, 6, 1).ToVector<float>(), x.ToVector<float>());
}

TEST(UngroupHeads, Gradients) {
  const auto once = [](const Inputs& in) { return UngroupHeads(in[0], 2, 3, 4); };
  EXPECT_EQ(CheckGradients(once, {RandomTensor({3, 40}, 1)}), "");
  const auto twice = [](const Inputs& in) { return Add(UngroupHeads(in[0], 4, 1, 2), UngroupHeads(in[0], 2, 2, 3)); };
  EXPECT_EQ(CheckGradients(twice, {RandomTensor({2, 24}, 2)}), "");
}

TEST(UngroupHeads, NamesTheShapeThatDoesNotFit) {
  EXPECT_THAT(
      [] {
        UngroupHeads(RandomTensor({2, 9}, 1), 2, 2, 1);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[2, 9]")));
}

}  // namespace
}  // namespace headlight::ops::head_groups_test
