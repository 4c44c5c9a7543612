// Rotary position embedding (Su et al., "RoFormer", 2021): rotates pairs of features by angles that depend on the
// token's position. T is float or double.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// In each head of `head_dim` features, features i and i + pairs are rotated as a pair by angle i of the row. The
/// angles are row indices[row] of cosines and sines, [positions, pairs]; indices is [rows]. Features from 2 * pairs on
/// are unchanged. With `back`, rotates by the negative angle, which is the gradient. y may be x.
template <typename T>
void RotateRows(Matrix<const T> x, std::int64_t head_dim, Matrix<const T> cosines, Matrix<const T> sines,
                const std::int32_t* indices, bool back, Matrix<T> y);

}  // namespace headlight::kernels
