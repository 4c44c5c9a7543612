// Residue sequences, as in FASTA files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/line_input.h"

namespace headlight {

/// The longest sequence, including insertions in an alignment, which bounds the memory that a file can demand. The
/// longest known protein, titin, has 35,000 residues.
inline constexpr std::size_t kMostResidues = std::size_t{1} << 17;

/// The residue type (protein/residues.h) of a letter in either case. Letters for several or rare amino acids are read
/// as in HHblits: B (D or N) as D, Z (E or Q) as E, U (selenocysteine) as C, and O (pyrrolysine), J (I or L) and X as
/// X. Empty for other characters.
HEADLIGHT_API std::optional<int> ResidueOfAnyLetter(char letter);

struct ProteinSequence {
  std::string name;       // its header without the > and surrounding spaces
  std::string letters;    // in upper case, unchanged: the 20, X, B, Z, U, O and J
  std::int64_t line = 0;  // of its header
};

/// The residue types of letters, as ResidueOfAnyLetter reads them.
HEADLIGHT_API std::vector<std::uint8_t> ResiduesOf(std::string_view letters);

/// Normalizes a sequence from a command line or a file: upper case, without spaces and without a * at the end (a stop).
/// Throws Error, which begins with `place`, for other characters and for more than kMostResidues.
HEADLIGHT_API std::string LettersOf(std::string_view text, std::string_view place);

/// Reads the sequences of a FASTA file, plain or gzip, one at a time: a header line beginning with >, then lines of
/// letters as in LettersOf. Empty lines, a byte order mark, the NULs that end MMseqs2's entries and HH-suite's
/// annotation rows (>ss_pred) are skipped.
/// Throws Error naming the file and line for letters before the first header, characters that are not letters, gaps
/// (which only alignments have), a sequence without letters or of more than kMostResidues, and the errors of LineInput.
/// After an error, reading can continue with the next sequence.
class HEADLIGHT_API FastaReader {
 public:
  explicit FastaReader(const std::string& path);  // - is standard input
  /// `mask`: a text that may occur between letters and is kept, such as <mask>; empty: none.
  explicit FastaReader(LineInput lines, std::string mask = "") : lines_(std::move(lines)), mask_(std::move(mask)) {}

  std::optional<ProteinSequence> Next();  // empty after the last one
  const std::string& name() const { return lines_.name(); }
  double share() const { return lines_.share(); }

 private:
  std::optional<ProteinSequence> NextRow();  // including annotations

  LineInput lines_;
  std::string mask_;
  std::string header_;  // of the next sequence, if it has been read
  std::int64_t header_line_ = 0;
  bool failed_ = false;  // within a sequence, whose rest must be skipped
};

}  // namespace headlight
