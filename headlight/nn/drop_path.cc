#include "headlight/nn/drop_path.h"

#include <algorithm>

#include "headlight/ops/arithmetic.h"

namespace headlight {

Tensor DropPath(Context& context, const Tensor& change, const Sequences& examples, int layer, int layers) {
  if (!context.training || context.training->drop_path == 0 || layer == 0) return change;
  const double probability = context.training->drop_path * layer / (layers - 1);
  const Dropout dropout = context.NextDropout(probability);
  const Tensor factors = Tensor::Zeros({change.rows(), 1}, change.dtype());
  Dispatch(change.dtype(), [&]<typename T>(T) {
    for (std::size_t i = 0; i < examples.size(); ++i)
      if (DropoutBits(RowDropoutKey(dropout.seed, i), 0) >= DropoutThreshold(probability))
        std::fill_n(factors.data<T>() + examples[i].begin, examples[i].length, static_cast<T>(1 / (1 - probability)));
  });
  return ops::Multiply(change, factors);
}

}  // namespace headlight
