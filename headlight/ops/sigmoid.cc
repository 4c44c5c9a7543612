#include "headlight/ops/sigmoid.h"

#include <cmath>

#include "headlight/autograd/tape.h"

namespace headlight::ops {

// A plain loop suffices for boxes and gates. The loop is cheap compared with the products that compute its input.
Tensor Sigmoid(const Tensor& x) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    for (std::int64_t row = 0; row < x.rows(); ++row) {
      const T* const from = x.matrix<T>().row(row);
      T* const to = y.matrix<T>().row(row);
      for (std::int64_t i = 0; i < x.columns(); ++i) to[i] = 1 / (1 + std::exp(-from[i]));
    }
  });
  return Record(y, {&x}, [x = x.node(), y](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      for (std::int64_t row = 0; row < dy.rows(); ++row) {
        const T* const slope = y.matrix<T>().row(row);
        const T* const from = dy.matrix<T>().row(row);
        T* const to = dx.matrix<T>().row(row);
        for (std::int64_t i = 0; i < dy.columns(); ++i) to[i] = from[i] * slope[i] * (1 - slope[i]);
      }
    });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
