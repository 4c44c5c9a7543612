#include "headlight/protein/nn/alignment_grid.h"

#include <limits>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

Sequences RowsOf(std::int32_t count, std::int32_t length) {
  return PackedSequences(std::vector<std::int32_t>(static_cast<std::size_t>(count), length));
}

}  // namespace

AlignmentGrid::AlignmentGrid(std::int64_t of_rows, std::int64_t of_residues, Marks marks) : present(std::move(marks)) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  Check(of_rows >= 1 && of_residues >= 1 && of_residues <= most / of_residues && of_rows <= most / of_residues,
        "the alignment has {} rows and {} residues", of_rows, of_residues);
  Check(present == nullptr || std::ssize(*present) == of_rows * of_residues,
        "there are {} marks for an alignment of {} rows and {} residues", present == nullptr ? 0 : present->size(),
        of_rows, of_residues);
  rows = static_cast<std::int32_t>(of_rows);
  residues = static_cast<std::int32_t>(of_residues);
  alignment_rows = RowsOf(rows, residues);
  alignment_columns = GridColumns(1, rows, residues);
  pair_rows = RowsOf(residues, residues);
  pair_columns = GridColumns(1, residues, residues);
  transposed.reserve(static_cast<std::size_t>(residues) * static_cast<std::size_t>(residues));
  for (std::int32_t i = 0; i < residues; ++i)
    for (std::int32_t j = 0; j < residues; ++j) transposed.push_back(j * residues + i);
}

}  // namespace headlight
