#include "headlight/ops/softmax.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/softmax.h"

namespace headlight::ops {

Tensor Softmax(const Tensor& x) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) { kernels::SoftmaxRows<T>(x.matrix<T>(), y.matrix<T>()); });
  return Record(y, {&x}, [x = x.node(), y](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(y.shape(), y.dtype());
    Dispatch(y.dtype(),
             [&]<typename T>(T) { kernels::SoftmaxRowsGradient<T>(y.matrix<T>(), dy.matrix<T>(), dx.matrix<T>()); });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
