// Packed rows: a batch of sentences is its tokens one after another, without padding, and this says where each begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headlight {

// Rows begin, begin + step, ..., begin + (length - 1) * step. Only attention reads a step other than 1: a column of a
// grid whose rows lie one after another is {column, height, width}.
struct Sequence {
  std::int32_t begin = 0, length = 0, step = 1;
  std::int32_t row(std::int32_t index) const { return begin + index * step; }
  std::int32_t end() const { return begin + (length - 1) * step + 1; }  // after the last row
  bool operator==(const Sequence&) const = default;
};

// One entry a sentence. Several entries may name the same rows: the beams of a sentence share its keys.
using Sequences = std::vector<Sequence>;

// Sentences of these lengths, one directly after another.
inline Sequences PackedSequences(std::span<const std::int32_t> lengths) {
  Sequences sequences;
  sequences.reserve(lengths.size());
  std::int32_t begin = 0;
  for (const std::int32_t length : lengths) {
    sequences.push_back({begin, length});
    begin += length;
  }
  return sequences;
}

// The columns of grids of `height` rows and `width` columns that lie one after another, grid by grid: with
// PackedSequences of their rows, the two passes of axial attention (Ho et al., "Axial Attention in Multidimensional
// Transformers", 2019).
inline Sequences GridColumns(std::int32_t grids, std::int32_t height, std::int32_t width) {
  Sequences columns;
  columns.reserve(static_cast<std::size_t>(grids) * static_cast<std::size_t>(width));
  for (std::int32_t grid = 0; grid < grids; ++grid)
    for (std::int32_t column = 0; column < width; ++column)
      columns.push_back({grid * height * width + column, height, width});
  return columns;
}

}  // namespace headlight
