// Sequences of residues, as FASTA files have them.
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

// Of one sequence, with what is inserted in an alignment; the longest known protein, titin, has 35,000. Bounds the
// memory that a file can ask for.
inline constexpr std::size_t kMostResidues = std::size_t{1} << 17;

// The residue type (protein/residues.h) of a letter in either case. Letters that mean several amino acids or rare ones
// are read as HHblits does: B (D or N) as D, Z (E or Q) as E, U (selenocysteine) as C, and O (pyrrolysine), J (I or L)
// and X as X. Nothing for what is no letter.
HEADLIGHT_API std::optional<int> ResidueOfAnyLetter(char letter);

struct ProteinSequence {
  std::string name;       // its header without the > and the spaces around it
  std::string letters;    // in upper case, as they stand: the 20, X, B, Z, U, O and J
  std::int64_t line = 0;  // of its header
};

// The residue types of letters, as ResidueOfAnyLetter reads them.
HEADLIGHT_API std::vector<std::uint8_t> ResiduesOf(std::string_view letters);

// The letters of a sequence from a command line or a file, in upper case, without spaces and without a * at the end (a
// stop). Throws Error, which begins with `place`, for other characters and for more than kMostResidues.
HEADLIGHT_API std::string LettersOf(std::string_view text, std::string_view place);

// The sequences of a FASTA file, plain or gzip, one at a time: a header line beginning with >, then lines of letters as
// LettersOf reads them. Empty lines, a byte order mark, the NULs that end MMseqs2's entries and HH-suite's rows of
// annotation (>ss_pred) are skipped.
// Throws Error naming the file and line for letters before the first header, anything that is no letter, gaps (which
// alignments have, not sequences), a sequence without letters or of more than kMostResidues, and as LineInput; after an
// error, reading can go on with the next sequence.
class HEADLIGHT_API FastaReader {
 public:
  explicit FastaReader(const std::string& path);  // - is standard input
  // `mask`: what may stand between letters, such as <mask>, and is kept as it is; empty: nothing.
  explicit FastaReader(LineInput lines, std::string mask = "") : lines_(std::move(lines)), mask_(std::move(mask)) {}

  std::optional<ProteinSequence> Next();  // nothing after the last
  const std::string& name() const { return lines_.name(); }
  double share() const { return lines_.share(); }

 private:
  std::optional<ProteinSequence> NextRow();  // annotations included

  LineInput lines_;
  std::string mask_;
  std::string header_;  // of the next sequence, where it has been read
  std::int64_t header_line_ = 0;
  bool failed_ = false;  // within a sequence, whose rest is to be skipped
};

}  // namespace headlight
