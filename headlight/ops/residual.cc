#include "headlight/ops/residual.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/dropout.h"

namespace headlight::ops {

Tensor Residual(const Tensor& x, const Tensor& sublayer, Dropout dropout) {
  Check(x.shape() == sublayer.shape(), "Residual: a sublayer of shape {} does not fit x of shape {}",
        ToString(sublayer.shape()), ToString(x.shape()));
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::ResidualRows<T>(x.matrix<T>(), sublayer.matrix<T>(), dropout, y.matrix<T>());
  });
  return Record(y, {&x, &sublayer}, [x = x.node(), sublayer = sublayer.node(), dropout](const Tensor& dy) {
    Accumulate(x, dy);
    if (sublayer == nullptr) return;
    Tensor dsublayer = dy;
    if (dropout.probability > 0) {
      dsublayer = Tensor::Empty(dy.shape(), dy.dtype());
      Dispatch(dy.dtype(),
               [&]<typename T>(T) { kernels::DropoutRows<T>(dy.matrix<T>(), dropout, dsublayer.matrix<T>()); });
    }
    Accumulate(sublayer, dsublayer);
  });
}

}  // namespace headlight::ops
