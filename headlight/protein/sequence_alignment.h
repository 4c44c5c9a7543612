// Local alignment of two sequences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct LocalAlignment {
  int score = 0;
  std::vector<std::int32_t> partners;  // [residues of the first] the aligned residue of the second, or -1
};

/// The best local alignment (Smith and Waterman, "Identification of common molecular subsequences", 1981; Gotoh, "An
/// improved algorithm for matching biological sequences", 1982) of residue types (protein/residues.h). Scores are
/// BLOSUM62 with BLAST's gap costs: 11 per gap and 1 per residue in it. X scores -1 with everything. Among equally good
/// alignments, the one that ends first is returned. Takes one byte per pair of residues; throws Error for more than
/// 2^31 pairs.
HEADLIGHT_API LocalAlignment AlignLocally(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second);

}  // namespace headlight
