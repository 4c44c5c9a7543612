// Assigns helices and strands based on the hydrogen bonds of the backbone.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/vector3.h"

namespace headlight {

using BackboneAtoms = std::array<Vector3, 4>;  ///< N, CA, C, O

enum class SecondaryStructure : char { coil = '-', helix = 'H', strand = 'E' };

/// Assigns secondary structure by the patterns of Kabsch and Sander, "Dictionary of protein secondary structure", 1983.
/// A residue is in a helix (only alpha helices) if two consecutive residues have bonds to the residues four positions
/// later. A residue is in a strand if two consecutive residues are in bridges. The position of a hydrogen is inferred
/// from the previous residue's O. Therefore, the first residue and residues after one of `breaks` are not donors.
HEADLIGHT_API std::vector<SecondaryStructure> SecondaryStructureOf(std::span<const BackboneAtoms> backbone,
                                                                   std::span<const int> breaks = {});

}  // namespace headlight
