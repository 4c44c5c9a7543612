// Shows how softmax converts scores to weights, and how attention averages values with these weights.
#include "headlight/ops/softmax.h"

#include <fmt/format.h>

#include "docs/examples/image.h"
#include "headlight/nn/attention.h"

using namespace headlight;

int main() {
  const Tensor weights = ops::Softmax(Tensor::From<float>({1, 0}, {2}));
  fmt::print("softmax([1, 0]) = {}\n", Row(weights.ToVector<float>()));

  // The query is 1 and the keys are 1 and 0, so the unscaled scores are 1 and 0. The values are 10 and 20.
  const Tensor query = Tensor::From<float>({1}, {1, 1});
  const Tensor keys = Tensor::From<float>({1, 0}, {2, 1});
  const Tensor values = Tensor::From<float>({10, 20}, {2, 1});
  const ScaledDotProductAttention attention{.scale = 1};
  Context context;
  const Tensor mixed = attention(context, query, keys, values, {{0, 1}}, {{0, 2}});
  fmt::print("0.731 * 10 + 0.269 * 20 = {:.2f}\n", mixed.data<float>()[0]);
}
