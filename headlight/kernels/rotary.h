// Rotary position embedding (Su et al., "RoFormer", 2021): rotates pairs of features by angles that depend on the
// token's position. T is float or double.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// The features of a head that form pair i of n: i and i + n (GPT-NeoX), or 2 i and 2 i + 1 (the paper; GPT-J).
enum class RotaryPairs : std::uint8_t { halves, adjacent };

/// Rotates the features of pair i by angle i of the row, in each head of `head_dim` features. The angles of a row are
/// row indices[row] of cosines and sines, [positions, pairs]; indices is [rows]. Features from 2 * pairs on are
/// unchanged. If `back` is true, rotates by the negative angle, which computes the gradient. y may be x.
template <typename T>
void RotateRows(Matrix<const T> x, std::int64_t head_dim, Matrix<const T> cosines, Matrix<const T> sines,
                const std::int32_t* indices, RotaryPairs pairs, bool back, Matrix<T> y);

}  // namespace headlight::kernels
