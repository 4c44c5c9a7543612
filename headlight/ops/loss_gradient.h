// The walk back through a loss that computes its gradients together with its value.
#pragma once

#include "headlight/kernels/arithmetic.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Turns `saved`, gradients for an incoming gradient of 1, into those for `incoming` (one number), in place: a tape is
// walked once. Free of charge where it is 1, as at the end of most trainings' tapes.
inline void ScaleByIncoming(const Tensor& saved, const Tensor& incoming) {
  Dispatch(saved.dtype(), [&]<typename T>(T) {
    const T factor = incoming.data<T>()[0];
    if (factor != 1) kernels::ScaleRows<T>(saved.matrix<T>(), static_cast<double>(factor), saved.matrix<T>());
  });
}

}  // namespace headlight::ops
