// The cells of an MSA and of the pair representation as packed rows, for attention along either axis.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"

namespace headlight {

/// Row-major layouts: cell (s, i) of the alignment is at index s * residues + i, and pair (i, j) at i * residues + j.
struct HEADLIGHT_API AlignmentGrid {
  using Marks = std::shared_ptr<const std::vector<std::uint8_t>>;

  /// `marks` has rows * residues values, 0 for a cell that is masked out; null: all cells are present. Throws Error if
  /// there is no row or no residue, if the numbers of cells or pairs exceed the index type, and for another number of
  /// marks.
  AlignmentGrid(std::int64_t of_rows, std::int64_t of_residues, Marks marks = {});

  std::int32_t rows, residues;
  Marks present;
  Sequences alignment_rows, alignment_columns;  // each a sequence of cells
  Sequences pair_rows, pair_columns;  // the pairs with the same first residue, and those with the same second residue
  std::vector<std::int32_t> transposed;  // the index of pair (j, i), for each (i, j)
};

}  // namespace headlight
