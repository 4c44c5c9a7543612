#include "headlight/ops/rotary.h"

#include <algorithm>

#include "headlight/autograd/tape.h"

namespace headlight::ops {
namespace {

std::int64_t HeadOf(const RotaryAngles& angles) {
  return angles.head_dim > 0 ? angles.head_dim : 2 * angles.cosines.columns();
}

void Rotate(const Tensor& x, const RotaryAngles& angles, bool back, const Tensor& y) {
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::RotateRows<T>(x.matrix<T>(), HeadOf(angles), angles.cosines.matrix<T>(), angles.sines.matrix<T>(),
                           angles.indices.data(), angles.pairs, back, y.matrix<T>());
  });
}

}  // namespace

Tensor Rotary(const Tensor& x, const RotaryAngles& angles) {
  const std::int64_t half = angles.cosines.columns();
  Check(x.shape().rank() == 2 && half > 0 && HeadOf(angles) >= 2 * half && x.columns() % HeadOf(angles) == 0 &&
            angles.sines.shape() == angles.cosines.shape() && std::ssize(angles.indices) == x.rows(),
        "Rotary: angles {} of {} tokens do not fit x {}", ToString(angles.cosines.shape()), angles.indices.size(),
        ToString(x.shape()));
  for (const std::int32_t index : angles.indices)
    Check(index >= 0 && index < angles.cosines.rows(), "Rotary: row {} is outside of {}", index,
          ToString(angles.cosines.shape()));
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Rotate(x, angles, /*back=*/false, y);
  if (!RequiresGradient({&x})) return y;
  return Record(y, {&x}, [x = x.node(), angles](const Tensor& dy) {
    const GradientSlot slot = SlotFor(x);
    if (!slot.accumulate) return Rotate(dy, angles, /*back=*/true, slot.tensor);
    const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
    Rotate(dy, angles, /*back=*/true, dx);
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
