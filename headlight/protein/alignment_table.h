// The distinct rows of alignments from which a structure prediction model samples, in bounded memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/alignment.h"

namespace headlight {

/// The number of residues of a row that are inserted before a column.
struct Deletions {
  std::int32_t column = 0, count = 0;
};

struct AlignmentTable {
  struct Row {
    std::vector<std::uint8_t> residues;  // as in AlignmentRow
    std::vector<Deletions> deletions;    // for the columns that have any, in order
  };
  std::vector<Row> rows;       // distinct, the query first
  std::vector<float> profile;  // [residues, kAlignmentLetters]: letter frequencies in the distinct rows
  std::int64_t read = 0;       // rows of the files
  std::int64_t distinct = 0;   // distinct rows, at least rows.size()

  std::int64_t residues() const { return static_cast<std::int64_t>(rows.front().residues.size()); }
};

struct AlignmentTableOptions {
  AlignmentOptions alignment = {};                  // for every file
  std::int64_t most_cells = std::int64_t{1} << 28;  // limit on the residues in memory, a byte each
  std::uint64_t seed = 0;                           // for the sample of rows if not all of them fit
};

/// Reads several alignments of one query (AlphaFold's are of UniRef90, BFD and MGnify), in order. Rows with the same
/// residues as an earlier row are dropped.
///
/// Memory: one byte for each of at most `most_cells` residues, about 150 bytes per row in memory and 60 per distinct
/// row. A million rows of 200 residues take 0.4 GB. If `most_cells` is too small for all rows, a uniform sample of the
/// distinct rows is kept, always with the query. The profile covers all distinct rows.
///
/// Throws the errors of AlignmentReader. Also throws Error if a file's query differs from the first file's, for more
/// than 2^25 distinct rows, and if `most_cells` is too small for the query and another row.
HEADLIGHT_API AlignmentTable ReadAlignmentTable(std::span<const std::string> paths,
                                                const AlignmentTableOptions& options = {});

/// A table with a single sequence. Throws Error for a character that is not an amino acid's letter, and for no letters.
HEADLIGHT_API AlignmentTable TableOfSequence(std::string_view letters);

}  // namespace headlight
