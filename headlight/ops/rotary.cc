#include "headlight/ops/rotary.h"

#include <algorithm>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/rotary.h"

namespace headlight::ops {
namespace {

Tensor Turned(const Tensor& x, const RotaryAngles& angles, bool back) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::RotateRows<T>(x.matrix<T>(), angles.cosines.matrix<T>(), angles.sines.matrix<T>(), angles.places.data(),
                           back, y.matrix<T>());
  });
  return y;
}

}  // namespace

Tensor Rotary(const Tensor& x, const RotaryAngles& angles) {
  const std::int64_t half = angles.cosines.columns();
  Check(x.shape().rank() == 2 && half > 0 && x.columns() % (2 * half) == 0 &&
            angles.sines.shape() == angles.cosines.shape() && std::ssize(angles.places) == x.rows(),
        "Rotary: angles {} of {} tokens do not fit x {}", ToString(angles.cosines.shape()), angles.places.size(),
        ToString(x.shape()));
  for (const std::int32_t place : angles.places)
    Check(place >= 0 && place < angles.cosines.rows(), "Rotary: place {} is outside of {}", place,
          ToString(angles.cosines.shape()));
  const Tensor y = Turned(x, angles, /*back=*/false);
  if (!WantsGradient({&x})) return y;
  return Record(y, {&x},
                [x = x.node(), angles](const Tensor& dy) { Accumulate(x, Turned(dy, angles, /*back=*/true)); });
}

}  // namespace headlight::ops
