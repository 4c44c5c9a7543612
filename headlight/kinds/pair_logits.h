// Image-text logits of models with a common embedding space.
#pragma once

#include "headlight/nn/context.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/exponential.h"
#include "headlight/ops/linear.h"

namespace headlight {

/// Returns e^logit_scale a b^T for normalized embeddings: [rows of a, rows of b].
inline Tensor PairLogits(Context& context, const Tensor& a, const Tensor& b, const Parameter& logit_scale) {
  return ops::Multiply(ops::Linear(a, {.value = b}), ops::Exponential(context.Use(logit_scale)));
}

}  // namespace headlight
