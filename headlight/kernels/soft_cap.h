// Soft caps, which keep values in [-cap, cap] (Bello et al., "Neural Combinatorial Optimization with Reinforcement
// Learning", 2016, appendix; Gemma Team, "Gemma 2: Improving Open Language Models at a Practical Size", 2024, section
// 2.2). T is float or double. The result for an element does not depend on its index.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes y = cap tanh(x / cap), for a positive cap. y may be x.
template <typename T>
void SoftCapRows(Matrix<const T> x, T cap, Matrix<T> y);

/// Computes d_x = d_y * (1 - (y / cap)^2). d_x may be d_y.
template <typename T>
void SoftCapRowsGradient(Matrix<const T> y, T cap, Matrix<const T> d_y, Matrix<T> d_x);

}  // namespace headlight::kernels
