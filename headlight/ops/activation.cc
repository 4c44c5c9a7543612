#include "headlight/ops/activation.h"

#include "headlight/autograd/tape.h"

namespace headlight::ops {

Tensor Activate(Activation activation, const Tensor& x) {
  if (activation == Activation::none) return x;
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) { kernels::ActivationRows<T>(activation, x.matrix<T>(), y.matrix<T>()); });
  // relu's gradient can use its output, which the next operation saves anyway.
  const Tensor of = activation == Activation::relu ? y : x.Detached();
  return Record(y, {&x}, [activation, x = x.node(), of](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      kernels::ActivationRowsGradient<T>(activation, of.matrix<T>(), dy.matrix<T>(), dx.matrix<T>());
    });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
