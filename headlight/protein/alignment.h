// Reads multiple sequence alignments (MSAs) in the formats A3M, A2M, aligned FASTA and Stockholm.
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

inline constexpr int kGap = 21;               ///< the value of a gap in a row of residue types
inline constexpr int kAlignmentLetters = 22;  ///< the number of residue types, plus one for the gap

/// A sequence aligned to the query. The columns are the query's residues.
struct AlignmentRow {
  std::string name;
  std::vector<std::uint8_t> residues;   ///< [columns] residue types as returned by ResidueOfAnyLetter, or kGap
  std::vector<std::int32_t> deletions;  ///< [columns] the number of this row's residues inserted before each column
};

struct AlignmentOptions {
  /// The expected query. If it is not empty, the file's first row must have these letters.
  std::string query;
  /// The maximum number of rows to read. AlphaFold uses the best 10,000 rows of UniRef90 and 501 of MGnify.
  std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();
};

/// Reads the rows of an alignment file, plain or gzip, in order. The first row is the query. The first line determines
/// the format: Stockholm begins with # STOCKHOLM 1.0, the other formats with >.
///   A3M, A2M, aligned FASTA   Upper-case letters and - are columns, and lower-case letters are insertions. Dots fill
///                             the columns of other rows' insertions.
///   Stockholm                 Letters have either case, and - . _ and ~ are gaps. Rows may be split into blocks.
/// In A3M, A2M and FASTA, a query with only lower-case letters is converted to upper case. A * at the end of a row (a
/// stop), a byte order mark, the NULs that end MMseqs2's entries and HH-suite's annotation rows (>ss_pred) are skipped.
/// Letters in columns in which the query has a gap count as insertions. Insertions after the last column are not
/// counted.
///
/// Memory: A3M, A2M and FASTA files of any size are read one row at a time (at most 4 MiB). Stockholm files have
/// interleaved blocks, so the letters of the first `most_rows` rows are kept, at most 1 GiB.
///
/// Throws Error naming the file and the line (for Stockholm the row) in these cases: a row and the query have different
/// numbers of columns; the query has no residues or differs from `query`; the file has ColabFold's header of a complex;
/// a character is not a letter; a row has more than kMostResidues letters. Throws the errors of LineInput.
class HEADLIGHT_API AlignmentReader {
 public:
  /// Opens the file; "-" is standard input.
  explicit AlignmentReader(const std::string& path, AlignmentOptions options = {});

  /// Returns the next row, or nullopt after the last row.
  std::optional<AlignmentRow> Next();
  /// Returns the number of columns, which the first call of Next sets.
  std::int64_t columns() const { return columns_; }
  const std::string& name() const { return lines_.name(); }

 private:
  /// A row's text, as in the file.
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
  std::string header_;  // the next row's header, except in Stockholm; header_line_ is 0 after the last row
  std::int64_t header_line_ = 0;
  std::vector<Text> held_;  // the rows of a Stockholm file
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<bool> kept_;  // [columns of the file] true if the query has a residue in the column
};

/// A whole alignment in memory.
struct Alignment {
  std::vector<AlignmentRow> rows;  ///< the first row is the query
};
HEADLIGHT_API Alignment ReadAlignment(const std::string& path, AlignmentOptions options = {});

}  // namespace headlight
