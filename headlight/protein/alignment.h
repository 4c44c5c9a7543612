// Alignments of many sequences to a query: A3M, A2M, aligned FASTA and Stockholm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/sequences.h"

namespace headlight {

inline constexpr int kGap = 21;               // in place of a residue type
inline constexpr int kAlignmentLetters = 22;  // the residue types and the gap

// A sequence aligned to the query, whose residues are the columns.
struct AlignmentRow {
  std::string name;
  std::vector<std::uint8_t> residues;   // [columns] residue types as ResidueOfAnyLetter reads them, or kGap
  std::vector<std::int32_t> deletions;  // [columns] how many residues stand in the row, not in the query, just before
};

struct AlignmentOptions {
  // The query that the file must be about, where it is known: its first row must have these letters.
  std::string query;
  // Later rows are not read: AlphaFold takes the best 10,000 of UniRef90 and 501 of MGnify.
  std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();
};

// The rows of an alignment, plain or gzip, in order, the query first. The format is told by the first line: Stockholm
// begins with # STOCKHOLM 1.0, the others with >.
//   A3M, A2M, aligned FASTA   upper-case letters and - are columns; lower-case letters are insertions, and . stands in
//                             for those of other rows
//   Stockholm                 letters in either case; - . _ and ~ are gaps; rows may be cut into blocks
// A * at the end of a row (a stop) is dropped. Of A3M, A2M and FASTA, a query whose letters are all in lower case is
// read in upper case, and a byte order mark, the NULs that end MMseqs2's entries and HH-suite's rows of annotation
// (>ss_pred) are skipped, as FastaReader does.
// Columns in which the query has a gap are none of the query's: their letters count as insertions. Insertions after the
// last column are counted nowhere.
//
// Memory: rows of the first three formats are read one at a time, so that a file of any size takes no more than one row
// (at most 4 MiB). Of Stockholm, whose blocks lie apart, the letters of the first `most_rows` rows are held, at most 1
// GiB of them.
//
// Throws Error naming the file and the line (of Stockholm the row) for rows of another number of columns than the
// query's, a query without residues or one that is not `query`, ColabFold's header of a complex, what is no letter, a
// row of more than kMostResidues letters, and as LineInput.
class HEADLIGHT_API AlignmentReader {
 public:
  explicit AlignmentReader(const std::string& path, AlignmentOptions options = {});  // - is standard input

  std::optional<AlignmentRow> Next();                // nothing after the last
  std::int64_t columns() const { return columns_; }  // known after the first row
  const std::string& name() const { return lines_.name(); }

 private:
  // The text of a row, as it is in the file.
  struct Text {
    std::string name, letters, place;
  };
  std::optional<Text> NextText();
  Text TakeFasta();
  void ReadComment(std::string_view line) const;
  void ReadStockholm();
  AlignmentRow Parse(const Text& text);
  void TakeQuery(const std::string& aligned, const Text& text);

  LineInput lines_;
  AlignmentOptions options_;
  bool stockholm_ = false;
  std::string header_;  // of the next row of the first three formats; its line 0 after the last
  std::int64_t header_line_ = 0;
  std::vector<Text> held_;  // Stockholm's rows
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<bool> kept_;  // [the file's columns] whether the query has a residue there
};

// A whole alignment, where it is held.
struct Alignment {
  std::vector<AlignmentRow> rows;  // the query first
};
HEADLIGHT_API Alignment ReadAlignment(const std::string& path, AlignmentOptions options = {});

}  // namespace headlight
