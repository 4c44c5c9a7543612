// Attention of each row to one key and value of several sets: softmax_t(q . k_t / sqrt(head_dim)) v_t, a head at a
// time. Sets are few, so that a row's scores stand in a small array, and keys and values are read where they lie.
// T is float or double.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// query and y [rows, heads * head_dim]; of each set [rows, 2 * heads * head_dim], the keys, then the values.
template <typename T>
void PointwiseAttention(Matrix<const T> query, std::span<const Matrix<const T>> sets, std::int32_t heads, Matrix<T> y);

// Of d_y the gradients of query and of every set; the weights are computed again.
template <typename T>
void PointwiseAttentionGradient(Matrix<const T> query, std::span<const Matrix<const T>> sets, std::int32_t heads,
                                Matrix<const T> d_y, Matrix<T> d_query, std::span<const Matrix<T>> d_sets);

}  // namespace headlight::kernels
