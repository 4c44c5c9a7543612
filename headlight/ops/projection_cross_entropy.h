// The output projection, fused with softmax and cross-entropy with label smoothing. The logits of all rows never exist
// at the same time.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/ops/linear.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times the sum over rows of the cross-entropy of x_r W^T + b, of shape [1]. The target distribution has
/// 1 - label_smoothing on labels[r] plus label_smoothing / vocab on every token (Vaswani et al., 2017, section 5.4). x
/// is [rows, model] and weight is [vocab, model]. bias has vocab elements or is empty, and receives no gradient. Rows
/// with a negative label are ignored. If r_drop is positive, x [2 * rows, model] has the rows of two passes with
/// different dropout masks. The loss of a row is then the mean of both losses plus r_drop / 4 times the symmetric
/// Kullback-Leibler divergence of both predictions (Liang et al., "R-Drop: Regularized Dropout for Neural Networks",
/// 2021, half of equation 4). If logit_cap is positive, the logits are capped as by SoftCap. Throws Error if shapes do
/// not fit or a label is not below vocab.
HEADLIGHT_API Tensor ProjectionCrossEntropy(const Tensor& x, const Weight& weight, const Tensor& bias,
                                            std::span<const std::int32_t> labels, double label_smoothing, double scale,
                                            double r_drop = 0, double logit_cap = 0);

}  // namespace headlight::ops
