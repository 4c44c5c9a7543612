// Gumbel noise, with which the largest of logits plus noise is a draw from their softmax (Gumbel, 1954; Jang et al.,
// "Categorical Reparameterization with Gumbel-Softmax", 2017).
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// y = -ln(-ln(u)), u uniform between 0 and 1 in steps of 2^-23, so that y lies from -2.9 to 16.7. A number is a
// function of (seed, row, column), the same for every vector length and thread count but for the logarithms' rounding.
// T is float or double.
template <typename T>
void GumbelRows(std::uint64_t seed, Matrix<T> y);

}  // namespace headlight::kernels
