// Cross-entropy per row with label smoothing (Szegedy et al., "Rethinking the Inception Architecture", 2016, section
// 7). The target is 1 - e on the label plus e / vocab on every class, with e the smoothing.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes losses[row] = log(sum of exp(x)) - (1 - e) x[label] - e mean(x), with x the row of logits [rows, vocab].
/// Rows with a negative label are ignored and have loss 0. Throws Error if a label is not below vocab. A logit of
/// -infinity makes the loss of a smoothed row infinite; NaN and +infinity make it NaN.
template <typename T>
void CrossEntropyRows(Matrix<const T> logits, std::span<const std::int32_t> labels, double label_smoothing,
                      std::span<double> losses);

/// Computes the losses of CrossEntropyRows, and overwrites the logits with their gradient: weight * (softmax(x) -
/// target), 0 in ignored rows.
template <typename T>
void CrossEntropyRowsGradient(Matrix<T> logits, std::span<const std::int32_t> labels, double label_smoothing,
                              double weight, std::span<double> losses);

/// Computes the loss of R-Drop (Liang et al., "R-Drop: Regularized Dropout for Neural Networks", 2021, equations 2 to
/// 4). x and y are the logits of two passes over the same rows with different dropout masks; p and q are their softmax.
/// losses[row] = (loss of x + loss of y) / 2 + consistency / 4 * (KL(p || q) + KL(q || p)), with the losses of
/// CrossEntropyRows. The logits must be finite. The logits are overwritten with the gradients of weight * losses[row].
template <typename T>
void ConsistentCrossEntropyRowsGradient(Matrix<T> x, Matrix<T> y, std::span<const std::int32_t> labels,
                                        double label_smoothing, double consistency, double weight,
                                        std::span<double> losses);

}  // namespace headlight::kernels
