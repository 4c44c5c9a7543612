// The backward pass of losses that compute their gradients in the forward pass.
#pragma once

#include "headlight/kernels/arithmetic.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Multiplies `saved`, the gradients for an incoming gradient of 1, by `incoming` (one element). Multiplies in place,
/// because a tape runs backward only once. Does nothing if `incoming` is 1, which is true for most losses.
inline void ScaleByIncoming(const Tensor& saved, const Tensor& incoming) {
  Dispatch(saved.dtype(), [&]<typename T>(T) {
    const T factor = incoming.data<T>()[0];
    if (factor != 1) kernels::ScaleRows<T>(saved.matrix<T>(), static_cast<double>(factor), saved.matrix<T>());
  });
}

}  // namespace headlight::ops
