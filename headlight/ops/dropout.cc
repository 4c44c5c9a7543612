#include "headlight/ops/dropout.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/dropout.h"

namespace headlight::ops {

Tensor Drop(const Tensor& x, Dropout dropout) {
  Check(dropout.probability >= 0 && dropout.probability < 1,
        "Drop: the probability must be at least 0 and below 1, not {}", dropout.probability);
  if (dropout.probability == 0) return x;
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) { kernels::DropoutRows<T>(x.matrix<T>(), dropout, y.matrix<T>()); });
  return Record(y, {&x}, [x = x.node(), dropout](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) { kernels::DropoutRows<T>(dy.matrix<T>(), dropout, dx.matrix<T>()); });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
