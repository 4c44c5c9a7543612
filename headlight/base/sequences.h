// Packed rows: a batch consists of its sequences' tokens, concatenated without padding. Sequences has the location of
// each sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headlight {

/// The rows begin, begin + step, ..., begin + (length - 1) * step. Only attention supports a step other than 1. For
/// example, a column of a row-major grid is {column, height, width}.
struct Sequence {
  std::int32_t begin = 0, length = 0, step = 1;
  std::int32_t row(std::int32_t index) const { return begin + index * step; }
  std::int32_t end() const { return begin + (length - 1) * step + 1; }  ///< the index after the last row
  bool operator==(const Sequence&) const = default;
};

/// One entry per sequence. Several entries may refer to the same rows. For example, beams share the keys of their
/// source.
using Sequences = std::vector<Sequence>;

/// Returns adjacent sequences with these lengths.
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

/// Returns the columns of adjacent grids of `height` rows and `width` columns, grid by grid. Attention over
/// PackedSequences of the rows and attention over these columns are the two passes of axial attention (Ho et al.,
/// "Axial Attention in Multidimensional Transformers", 2019).
inline Sequences GridColumns(std::int32_t grids, std::int32_t height, std::int32_t width) {
  Sequences columns;
  columns.reserve(static_cast<std::size_t>(grids) * static_cast<std::size_t>(width));
  for (std::int32_t grid = 0; grid < grids; ++grid)
    for (std::int32_t column = 0; column < width; ++column)
      columns.push_back({grid * height * width + column, height, width});
  return columns;
}

}  // namespace headlight
