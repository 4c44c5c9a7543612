// The rows of alignments as a model of structures samples them: without duplicates, in memory that has a bound.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/alignment.h"

namespace headlight {

// So many residues stand in a row, not in the query, just before a column.
struct Deletions {
  std::int32_t column = 0, count = 0;
};

struct AlignmentTable {
  struct Row {
    std::vector<std::uint8_t> residues;  // as in AlignmentRow
    std::vector<Deletions> deletions;    // of the columns that have any, in order
  };
  std::vector<Row> rows;       // distinct, the query first
  std::vector<float> profile;  // [residues, kAlignmentLetters]: the share of each letter in the distinct rows
  std::int64_t read = 0;       // rows of the files
  std::int64_t distinct = 0;   // those that differ, at least rows.size()

  std::int64_t residues() const { return static_cast<std::int64_t>(rows.front().residues.size()); }
};

struct AlignmentTableOptions {
  AlignmentOptions alignment = {};                  // of every file
  std::int64_t most_cells = std::int64_t{1} << 28;  // that are held, a byte each
  std::uint64_t seed = 0;                           // of the choice of rows, where that is not enough for all
};

// The rows of several alignments of one query (AlphaFold's are of UniRef90, BFD and MGnify), read one after another;
// those whose residues are the same as an earlier row's are left out.
//   Memory: a byte for each of at most `most_cells` residues, some 150 for each row that is held and 60 for each
//   distinct one: a million rows of 200 residues take 0.4 GB. Of a larger alignment the rows that are held are a
//   uniform sample of the distinct ones, with the query; the profile is that of all.
// Throws Error as AlignmentReader, for a file whose query is another than the first one's, for more than 2^25 distinct
// rows, and where `most_cells` does not hold the query and another row.
HEADLIGHT_API AlignmentTable ReadAlignmentTable(std::span<const std::string> paths,
                                                const AlignmentTableOptions& options = {});

// A sequence alone: the one row. Throws Error for what is no letter of an amino acid, and where there is none.
HEADLIGHT_API AlignmentTable TableOfSequence(std::string_view letters);

}  // namespace headlight
