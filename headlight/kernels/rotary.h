// Rotary position embedding (Su et al., "RoFormer", 2021): rotates pairs of features by angles that depend on the
// token's position. T is float or double.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Which features of a head are pair i of n: i and i + n (GPT-NeoX), or 2 i and 2 i + 1 (the paper; GPT-J).
enum class RotaryPairs : std::uint8_t { halves, adjacent };

/// In each head of `head_dim` features, the features of pair i are rotated by angle i of the row. The angles are row
/// indices[row] of cosines and sines, [positions, pairs]; indices is [rows]. Features from 2 * pairs on are unchanged.
/// With `back`, rotates by the negative angle, which is the gradient. y may be x.
template <typename T>
void RotateRows(Matrix<const T> x, std::int64_t head_dim, Matrix<const T> cosines, Matrix<const T> sines,
                const std::int32_t* indices, RotaryPairs pairs, bool back, Matrix<T> y);

}  // namespace headlight::kernels
