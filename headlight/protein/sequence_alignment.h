// Local alignment of two sequences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct LocalAlignment {
  int score = 0;
  std::vector<std::int32_t> places;  // [residues of the first] the residue of the second that is aligned to it, or -1
};

// The best local alignment (Smith and Waterman, "Identification of common molecular subsequences", 1981; Gotoh, "An
// improved algorithm for matching biological sequences", 1982) of residue types (protein/residues.h), by BLOSUM62 and
// with BLAST's costs: 11 for a gap and 1 for each residue in it. X counts -1 against all. Of equally good ones the
// first that ends. Takes a byte for each pair of residues; throws Error for more pairs than 2^31.
HEADLIGHT_API LocalAlignment AlignLocally(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second);

}  // namespace headlight
