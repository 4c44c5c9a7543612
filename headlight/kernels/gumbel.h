// Gumbel noise. The argmax of logits plus Gumbel noise is a sample from their softmax (Gumbel, 1954; Jang et al.,
// "Categorical Reparameterization with Gumbel-Softmax", 2017).
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes y = -ln(-ln(u)), with u uniform in (0, 1) in steps of 2^-23, so that y is in [-2.9, 16.7]. Each element is
/// a function of (seed, row, column). It is the same for every vector length and number of threads, up to rounding of
/// the logarithms. T is float or double.
template <typename T>
void GumbelRows(std::uint64_t seed, Matrix<T> y);

}  // namespace headlight::kernels
