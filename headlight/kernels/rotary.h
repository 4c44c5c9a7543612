// Rotary positions (Su et al., "RoFormer", 2021): pairs of features turned by angles that depend on the token's place.
// T is float or double.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// In each of the row's heads, as wide as `cosines` twice, features i and i + head_dim / 2 are turned as a pair by angle
// i of the row's place: cosines and sines [places, head_dim / 2], places[rows]. With `back` by the negative angle,
// which is the gradient. y may be x.
template <typename T>
void RotateRows(Matrix<const T> x, Matrix<const T> cosines, Matrix<const T> sines, const std::int32_t* places,
                bool back, Matrix<T> y);

}  // namespace headlight::kernels
