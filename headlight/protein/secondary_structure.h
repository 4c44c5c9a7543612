// Helices and strands, determined from the backbone's hydrogen bonds.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/vector3.h"

namespace headlight {

using BackboneAtoms = std::array<Vector3, 4>;  // N, CA, C, O

enum class SecondaryStructure : char { coil = '-', helix = 'H', strand = 'E' };

/// Assigns secondary structure by the patterns of Kabsch and Sander, "Dictionary of protein secondary structure", 1983.
/// A residue is in a helix (only alpha helices) if two consecutive residues are bonded to those four positions later.
/// It is in a strand if two consecutive residues are in bridges. A hydrogen's position is inferred from the previous
/// residue's O, so the first residue and those after one of `breaks` are not donors.
HEADLIGHT_API std::vector<SecondaryStructure> SecondaryStructureOf(std::span<const BackboneAtoms> backbone,
                                                                   std::span<const int> breaks = {});

}  // namespace headlight
