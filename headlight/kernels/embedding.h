// Token embedding lookup, fused with scaling, position embeddings and dropout (Vaswani et al., "Attention Is All You
// Need", 2017, sections 3.4, 3.5 and 5.4). T is float or double.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight::kernels {

/// Computes y[row] = dropout(scale * table[ids[row]] + position_table[positions[row]]). The table is [vocab, model].
/// The position table is [positions, model]. The position table is omitted if it has no data. Throws Error if an id or
/// position is out of range.
template <typename T>
void EmbeddingRows(std::span<const std::int32_t> ids, Matrix<const T> table, double scale,
                   std::span<const std::int32_t> positions, Matrix<const T> position_table, Dropout dropout,
                   Matrix<T> y);

/// Computes d_table[ids[row]] += scale * dropout(d_y[row]). The rows of an id are added in order, so the result has the
/// same bits for any number of threads. With positions as ids and a scale of 1, this is the gradient of a position
/// table.
template <typename T>
void EmbeddingRowsGradient(std::span<const std::int32_t> ids, Matrix<const T> d_y, double scale, Dropout dropout,
                           Matrix<T> d_table);

}  // namespace headlight::kernels
