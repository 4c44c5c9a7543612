// Aligns two sequences locally.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct LocalAlignment {
  int score = 0;
  /// [residues of the first sequence] the aligned residue of the second sequence, or -1.
  std::vector<std::int32_t> partners;
};

/// Returns the best local alignment of residue types as in protein/residues.h (Smith and Waterman, "Identification of
/// common molecular subsequences", 1981; Gotoh, "An improved algorithm for matching biological sequences", 1982).
/// Scores are BLOSUM62 with BLAST's gap costs: 11 per gap and 1 per residue in the gap. X scores -1 with every residue.
/// Among equally good alignments, the alignment that ends first is returned. Needs one byte of memory per pair of
/// residues. Throws Error for more than 2^31 pairs.
HEADLIGHT_API LocalAlignment AlignLocally(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second);

}  // namespace headlight
