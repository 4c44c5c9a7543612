#include "headlight/ops/soft_cap.h"

#include <cmath>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/soft_cap.h"

namespace headlight::ops {

Tensor SoftCap(const Tensor& x, double cap) {
  if (cap == 0) return x;
  Check(std::isfinite(cap) && cap > 0, "SoftCap: the cap must be positive, not {}", cap);
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(),
           [&]<typename T>(T) { kernels::SoftCapRows<T>(x.matrix<T>(), static_cast<T>(cap), y.matrix<T>()); });
  return Record(y, {&x}, [x = x.node(), y = y.Detached(), cap](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      kernels::SoftCapRowsGradient<T>(y.matrix<T>(), static_cast<T>(cap), dy.matrix<T>(), dx.matrix<T>());
    });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
