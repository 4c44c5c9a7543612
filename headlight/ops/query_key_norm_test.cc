#include "headlight/ops/query_key_norm.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/rms_norm.h"
#include "headlight/ops/view.h"

namespace headlight::ops::query_key_norm_test {
namespace {

using Inputs = std::vector<Tensor>;

// Tests two query heads and one key head of size three, in a wider row.
TEST(QueryKeyNorm, NormalizesHeadsWithSeparateGains) {
  const Tensor wide = RandomTensor({5, 12}, 1), query_gain = RandomTensor({3}, 2), key_gain = RandomTensor({3}, 3);
  const Tensor y = QueryKeyNorm(Columns(wide, 0, 9), 6, query_gain, key_gain, 1e-3);
  for (const int head : {0, 1, 2}) {
    const Tensor one = Tensor::Empty({5, 3}, wide.dtype());
    one.CopyFrom(wide.ViewColumns(3 * head, 3));
    const Tensor expected = RmsNorm(one, head < 2 ? query_gain : key_gain, 1e-3);
    const Tensor actual = Tensor::Empty({5, 3}, wide.dtype());
    actual.CopyFrom(y.ViewColumns(3 * head, 3));
    EXPECT_EQ(actual.ToVector<double>(), expected.ToVector<double>()) << head;
  }
}

TEST(QueryKeyNorm, Gradients) {
  const auto f = [](const Inputs& in) { return QueryKeyNorm(Columns(in[0], 0, 10), 6, in[1], in[2], 1e-3); };
  EXPECT_EQ(CheckGradients(f, {RandomTensor({4, 11}, 1), RandomTensor({3}, 2), RandomTensor({4}, 3)}), "");
}

TEST(QueryKeyNorm, NamesTheShapesThatDoNotFit) {
  EXPECT_THAT(([] {
                QueryKeyNorm(RandomTensor({2, 9}, 1), 4, RandomTensor({3}, 2), RandomTensor({3}, 3), 1e-3);
              }),
              testing::ThrowsMessage<Error>(testing::HasSubstr("x [2, 9] with 4")));
}

}  // namespace
}  // namespace headlight::ops::query_key_norm_test
