// Attention of each row to one key and value per set: softmax_t(q . k_t / sqrt(head_dim)) v_t, per head. There are few
// sets, so a row's scores fit into a small array, and keys and values are read without packing. T is float or double.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes y from query, both [rows, heads * head_dim]. Each set is [rows, 2 * heads * head_dim], with keys, then
/// values.
template <typename T>
void PointwiseAttention(Matrix<const T> query, std::span<const Matrix<const T>> sets, std::int32_t heads, Matrix<T> y);

/// Computes the gradients of query and of every set from d_y. Weights are recomputed.
template <typename T>
void PointwiseAttentionGradient(Matrix<const T> query, std::span<const Matrix<const T>> sets, std::int32_t heads,
                                Matrix<const T> d_y, Matrix<T> d_query, std::span<const Matrix<T>> d_sets);

}  // namespace headlight::kernels
