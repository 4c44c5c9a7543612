// Collects the distinct rows of alignments in bounded memory. A structure prediction model samples its input from them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/alignment.h"

namespace headlight {

/// The number of a row's residues that are inserted before a column.
struct Deletions {
  std::int32_t column = 0, count = 0;
};

struct AlignmentTable {
  struct Row {
    std::vector<std::uint8_t> residues;  ///< [residues] as in AlignmentRow
    std::vector<Deletions> deletions;    ///< only for columns with deletions, in ascending order
  };
  std::vector<Row> rows;       ///< distinct rows; the first is the query
  std::vector<float> profile;  ///< [residues, kAlignmentLetters] letter frequencies over all distinct rows
  std::int64_t read = 0;       ///< the number of rows in the files
  std::int64_t distinct = 0;   ///< the number of distinct rows, at least rows.size()

  std::int64_t residues() const { return static_cast<std::int64_t>(rows.front().residues.size()); }
};

struct AlignmentTableOptions {
  AlignmentOptions alignment = {};                  ///< the options for reading each file
  std::int64_t most_cells = std::int64_t{1} << 28;  ///< the maximum number of residues in memory, one byte each
  std::uint64_t seed = 0;                           ///< the seed for sampling rows if not all of them fit in memory
};

/// Reads several alignments of one query, in order. AlphaFold reads alignments from UniRef90, BFD and MGnify. Rows with
/// the same residues as an earlier row are dropped.
///
/// Memory: one byte for each of at most `most_cells` residues, about 150 bytes per row in memory and 60 bytes per
/// distinct row. A million rows of 200 residues take 0.4 GB. If `most_cells` is too small for all rows, the query and a
/// uniform sample of the other distinct rows are kept. The profile covers all distinct rows.
///
/// Throws the errors of AlignmentReader. Also throws Error if a file's query differs from the first file's query, or
/// if there are more than 2^25 distinct rows. Also throws Error if `most_cells` is too small for the query and one
/// other row.
HEADLIGHT_API AlignmentTable ReadAlignmentTable(std::span<const std::string> paths,
                                                const AlignmentTableOptions& options = {});

/// Returns a table with a single sequence. Throws Error if `letters` is empty or has a character that is not an amino
/// acid's letter.
HEADLIGHT_API AlignmentTable TableOfSequence(std::string_view letters);

}  // namespace headlight
