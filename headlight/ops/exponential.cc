#include "headlight/ops/exponential.h"

#include <cmath>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"

namespace headlight::ops {

// A plain loop suffices, because this function is only used for temperatures, which are scalars.
Tensor Exponential(const Tensor& x) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    for (std::int64_t row = 0; row < x.rows(); ++row)
      for (std::int64_t i = 0; i < x.columns(); ++i) y.matrix<T>().row(row)[i] = std::exp(x.matrix<T>().row(row)[i]);
  });
  return Record(y, {&x}, [x = x.node(), y](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
    Dispatch(dy.dtype(),
             [&]<typename T>(T) { kernels::MultiplyRows<T>(y.matrix<T>(), dy.matrix<T>(), dx.matrix<T>()); });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
