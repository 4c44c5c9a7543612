// Reads residue sequences, such as those in FASTA files.
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

/// The maximum length of a sequence, including insertions in an alignment. This limit bounds the memory that a file can
/// require. The longest known protein, titin, has 35,000 residues.
inline constexpr std::size_t kMostResidues = std::size_t{1} << 17;

/// Returns the residue type (protein/residues.h) of a letter in either case, or nullopt for other characters. Letters
/// for ambiguous or rare amino acids are converted as in HHblits: B (D or N) to D, Z (E or Q) to E, and U
/// (selenocysteine) to C. O (pyrrolysine) and J (I or L) are converted to X.
HEADLIGHT_API std::optional<int> ResidueOfAnyLetter(char letter);

struct ProteinSequence {
  std::string name;       ///< the header without the > and surrounding spaces
  std::string letters;    ///< in upper case: the 20 amino acids, X, B, Z, U, O and J, which are not converted
  std::int64_t line = 0;  ///< the line of the header
};

/// Converts letters to residue types, as in ResidueOfAnyLetter. Throws Error for other characters.
HEADLIGHT_API std::vector<std::uint8_t> ResiduesOf(std::string_view letters);

/// Normalizes a sequence from a command line or a file. Converts it to upper case, and removes spaces and a final *
/// (a stop). Throws Error for other characters and for more than kMostResidues letters. The message begins with
/// `location`.
HEADLIGHT_API std::string LettersOf(std::string_view text, std::string_view location);

/// Reads the sequences of a FASTA file, plain or gzip, one at a time. A sequence is a header line that begins with >,
/// then lines of letters as in LettersOf. Empty lines, a byte order mark, the NULs that end MMseqs2's entries and
/// HH-suite's annotation rows (>ss_pred) are skipped.
/// Throws Error naming the file and line for letters before the first header, characters that are not letters, and gaps
/// (which only alignments have). Also throws Error for a sequence without letters or with more than kMostResidues
/// letters. Throws the errors of LineInput. After an error, reading can continue with the next sequence.
class HEADLIGHT_API FastaReader {
 public:
  /// Opens the file; "-" is standard input.
  explicit FastaReader(const std::string& path);
  /// `mask` is a text that may occur between letters and is kept, such as <mask>. If it is empty, there is no mask.
  explicit FastaReader(LineInput lines, std::string mask = "") : lines_(std::move(lines)), mask_(std::move(mask)) {}

  /// Returns the next sequence, or nullopt after the last sequence.
  std::optional<ProteinSequence> Next();
  const std::string& name() const { return lines_.name(); }
  double share() const { return lines_.share(); }

 private:
  /// Returns the next sequence or annotation.
  std::optional<ProteinSequence> NextRow();

  LineInput lines_;
  std::string mask_;
  std::string header_;  // the header of the next sequence, if it has already been read
  std::int64_t header_line_ = 0;
  bool failed_ = false;  // true after an error within a sequence; the rest of the sequence must be skipped
};

}  // namespace headlight
