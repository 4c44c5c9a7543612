#include "headlight/ops/rms_norm.h"

#include <cmath>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/rms_norm.h"

namespace headlight::ops {

Tensor RmsNorm(const Tensor& x, const Tensor& gain, double epsilon) {
  Check(x.shape().rank() >= 1 && gain.shape() == Shape{x.columns()},
        "RmsNorm: a gain of shape {} does not fit x of shape {}", ToString(gain.shape()), ToString(x.shape()));
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  const bool wants_gradient = RequiresGradient({&x, &gain});
  const Tensor inverse_rms = wants_gradient ? Tensor::Empty({x.rows()}, x.dtype()) : Tensor();
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::RmsNormRows<T>(x.matrix<T>(), gain.data<T>(), epsilon, y.matrix<T>(),
                            wants_gradient ? inverse_rms.data<T>() : nullptr);
  });
  if (!wants_gradient) return y;
  return Record(y, {&x, &gain}, [x = x.Detached(), x_node = x.node(), gain, inverse_rms](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
    const Tensor dgain = gain.node() != nullptr ? SumSlotFor(gain.node()) : Tensor::Zeros(gain.shape(), gain.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      kernels::RmsNormRowsGradient<T>(x.matrix<T>(), gain.data<T>(), inverse_rms.data<T>(), dy.matrix<T>(),
                                      dx.matrix<T>(), dgain.data<T>());
    });
    Accumulate(x_node, dx);
  });
}

// Computes an RMS norm with gain 1 / sqrt(columns).
Tensor UnitRows(const Tensor& x) {
  const auto columns = static_cast<double>(x.columns());
  const Tensor gain = Tensor::Empty({x.columns()}, x.dtype());
  gain.Fill(1 / std::sqrt(columns));
  return RmsNorm(x, gain, 1e-24 / columns);
}

}  // namespace headlight::ops
