// Rotary positions (Su et al., "RoFormer", 2021): pairs of features turned by angles that depend on the token's place.
// T is float or double.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// In each of the row's heads of `head_dim` features, i and i + pairs are turned as a pair by angle i of the row's
// place: cosines and sines [indices, pairs], indices[rows]. Features from 2 * pairs on stay as they are. With `back` by
// the negative angle, which is the gradient. y may be x.
template <typename T>
void RotateRows(Matrix<const T> x, std::int64_t head_dim, Matrix<const T> cosines, Matrix<const T> sines,
                const std::int32_t* indices, bool back, Matrix<T> y);

}  // namespace headlight::kernels
