// Look-up of token embeddings, their scaling, the positions' encodings and dropout in one pass over the rows (Vaswani
// et al., "Attention Is All You Need", 2017, sections 3.4, 3.5 and 5.4). T is float or double.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight::kernels {

// y[row] = dropout(scale * table[ids[row]] + position_table[positions[row]]). The table is [vocab, model], the position
// table [longest, model] or without data: then nothing is added. Throws Error where an id or position lies outside.
template <typename T>
void EmbeddingRows(std::span<const std::int32_t> ids, Matrix<const T> table, double scale,
                   std::span<const std::int32_t> positions, Matrix<const T> position_table, Dropout dropout,
                   Matrix<T> y);

// d_table[ids[row]] += scale * dropout(d_y[row]), the rows of an id in order: the same bits at any number of threads.
// With the positions for ids and 1 for scale, the gradient of a position table.
template <typename T>
void EmbeddingRowsGradient(std::span<const std::int32_t> ids, Matrix<const T> d_y, double scale, Dropout dropout,
                           Matrix<T> d_table);

}  // namespace headlight::kernels
