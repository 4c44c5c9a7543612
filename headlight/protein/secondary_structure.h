// Helices and strands, by the hydrogen bonds of the backbone.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/vector3.h"

namespace headlight {

using BackboneAtoms = std::array<Vector3, 4>;  // N, CA, C, O

enum class SecondaryStructure : char { coil = '-', helix = 'H', strand = 'E' };

// Of each residue, by the patterns of Kabsch and Sander, "Dictionary of protein secondary structure", 1983: a helix
// where two neighbours are bound to the residues four after them (alpha helices alone), a strand where two neighbours
// are in bridges. A hydrogen stands opposite of the O before it, so that a residue after one of `breaks` and the first
// bind none.
HEADLIGHT_API std::vector<SecondaryStructure> SecondaryStructureOf(std::span<const BackboneAtoms> backbone,
                                                                   std::span<const int> breaks = {});

}  // namespace headlight
