// Describes the cells of an MSA and of the pair representation as packed rows, for attention along either axis.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"

namespace headlight {

/// The sequences of an MSA's cells and of the pairs. Layouts are row-major: cell (s, i) of the alignment is at index s
/// * residues + i, and pair (i, j) is at i * residues + j.
struct HEADLIGHT_API AlignmentGrid {
  using Marks = std::shared_ptr<const std::vector<std::uint8_t>>;

  /// `marks` has rows * residues values, which are 0 for masked cells. If `marks` is null, all cells are present.
  /// Throws Error if there are no rows or residues, or if `marks` has another size. Also throws Error if the number of
  /// cells or pairs exceeds the index type.
  AlignmentGrid(std::int64_t of_rows, std::int64_t of_residues, Marks marks = {});

  std::int32_t rows, residues;
  Marks present;
  Sequences alignment_rows, alignment_columns;  // the cells of each row and of each column
  /// The pairs with the same first residue, and the pairs with the same second residue.
  Sequences pair_rows, pair_columns;
  std::vector<std::int32_t> transposed;  // the index of pair (j, i) for each pair (i, j)
};

}  // namespace headlight
