// The output projection fused with softmax and cross-entropy with label smoothing; the scores of all rows never exist
// at once.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/ops/linear.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times the sum of the rows' losses, where row r's is cross-entropy of x_r W^T + b against labels[r], the
// target being 1 - label_smoothing on the label plus label_smoothing / vocab on every word (Vaswani et al., 2017,
// section 5.4). x [rows, model], weight [vocab, model], bias of vocab numbers or empty (it gets no gradient); a row
// whose label is negative does not count. With r_drop above 0, x [2 * rows, model] has the rows of two passes with
// different dropout masks, and the loss of a row is the mean of both plus r_drop / 4 times the symmetric
// Kullback-Leibler divergence of their predictions (Liang et al., "R-Drop: Regularized Dropout for Neural Networks",
// 2021, equation 4 halved). With logit_cap above 0 the scores are capped as by SoftCap. Throws Error where shapes do
// not fit or a label is not below vocab.
HEADLIGHT_API Tensor ProjectionCrossEntropy(const Tensor& x, const Weight& weight, const Tensor& bias,
                                            std::span<const std::int32_t> labels, double label_smoothing, double scale,
                                            double r_drop = 0, double logit_cap = 0);

}  // namespace headlight::ops
