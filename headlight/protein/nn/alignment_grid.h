// An alignment's rows and the pairs of its residues as packed rows, for attention along either axis.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"

namespace headlight {

// The cells of an alignment lie row by row, cell (s, i) at s * residues + i, and pairs too, (i, j) at i * residues + j.
struct HEADLIGHT_API AlignmentGrid {
  using Marks = std::shared_ptr<const std::vector<std::uint8_t>>;

  // `marks` of rows * residues, 0 for a cell that nothing may read, or null: all are present. Throws Error where there
  // is no row or no residue, where there are more cells or pairs than an index has numbers, and for marks of another
  // number.
  AlignmentGrid(std::int64_t of_rows, std::int64_t of_residues, Marks marks = {});

  std::int32_t rows, residues;
  Marks present;
  Sequences alignment_rows, alignment_columns;  // each a sequence of cells
  Sequences pair_rows, pair_columns;            // of the pairs that begin with a residue, and of those that end with it
  std::vector<std::int32_t> transposed;         // where pair (j, i) stands, for each (i, j)
};

}  // namespace headlight
