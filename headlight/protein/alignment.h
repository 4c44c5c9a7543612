// Multiple sequence alignments (MSAs) to a query: A3M, A2M, aligned FASTA and Stockholm.
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

/// A sequence aligned to the query. The query's residues are the columns.
struct AlignmentRow {
  std::string name;
  std::vector<std::uint8_t> residues;   // [columns] residue types as by ResidueOfAnyLetter, or kGap
  std::vector<std::int32_t> deletions;  // [columns] residues of this row inserted before the column
};

struct AlignmentOptions {
  /// The expected query, if it is known: the file's first row must have these letters.
  std::string query;
  /// Limit on the rows to read: AlphaFold uses the best 10,000 of UniRef90 and 501 of MGnify.
  std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();
};

/// Reads the rows of an alignment file, plain or gzip, in order, the query first. The first line determines the format:
/// Stockholm begins with # STOCKHOLM 1.0, the others with >.
///   A3M, A2M, aligned FASTA   upper-case letters and - are columns; lower-case letters are insertions, and . fills the
///                             columns of other rows' insertions
///   Stockholm                 letters of either case; - . _ and ~ are gaps; rows may be split into blocks
/// A * at the end of a row (a stop) is dropped. In A3M, A2M and FASTA, a query with only lower-case letters is
/// converted to upper case. A byte order mark, the NULs that end MMseqs2's entries and HH-suite's annotation rows
/// (>ss_pred) are skipped, as in FastaReader. Letters in columns where the query has a gap count as insertions.
/// Insertions after the last column are not counted.
///
/// Memory: the first three formats are read one row at a time (at most 4 MiB), however large the file is. Stockholm
/// files have interleaved blocks, so the letters of the first `most_rows` rows are kept, at most 1 GiB.
///
/// Throws Error naming the file and the line (in Stockholm the row) for a row whose number of columns differs from the
/// query's, a query without residues or different from `query`, ColabFold's header of a complex, a character that is
/// not a letter, a row of more than kMostResidues letters, and the errors of LineInput.
class HEADLIGHT_API AlignmentReader {
 public:
  explicit AlignmentReader(const std::string& path, AlignmentOptions options = {});  // - is standard input

  std::optional<AlignmentRow> Next();                // empty after the last row
  std::int64_t columns() const { return columns_; }  // known after the first row
  const std::string& name() const { return lines_.name(); }

 private:
  /// The text of a row, as in the file.
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
  std::string header_;  // of the next row of the first three formats; its line is 0 after the last row
  std::int64_t header_line_ = 0;
  std::vector<Text> held_;  // Stockholm rows
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<bool> kept_;  // [the file's columns] whether the query has a residue there
};

/// A whole alignment in memory.
struct Alignment {
  std::vector<AlignmentRow> rows;  // the query first
};
HEADLIGHT_API Alignment ReadAlignment(const std::string& path, AlignmentOptions options = {});

}  // namespace headlight
