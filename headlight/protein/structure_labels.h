// The labels that a structure gives to a model that folds its chain (Jumper et al., "Highly accurate protein structure
// prediction with AlphaFold", 2021, supplement, section 1.2.9 and algorithm 26).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/structure.h"
#include "headlight/protein/vector3.h"

namespace headlight {

// Of one residue, in angstrom. Where the atoms that a value needs are not known it is not known either, and zero.
struct ResidueLabels {
  std::int32_t type = kUnknownResidue;
  std::int32_t place = 0;  // in the chain: consecutive but at gaps
  std::array<Vector3, kAtom14> atoms{};
  std::array<bool, kAtom14> known{};
  std::array<bool, kAtom37> resolved{};         // by atom37, of those that the type has
  std::array<RigidFrame, kRigidGroups> frames;  // of the rigid groups
  std::array<bool, kRigidGroups> frame_known{};
  // Sine and cosine of omega, phi, psi and chi1 to chi4; psi is O's, as residues.h says.
  std::array<std::array<double, 2>, 7> torsions{};
  std::array<bool, 7> torsion_known{};
  Vector3 beta;  // C beta, of glycine C alpha
  bool beta_known = false;
};

// Of all residues, those without a known atom among them. Three atoms on a line, or two at one place, make no frame.
HEADLIGHT_API std::vector<ResidueLabels> LabelsOf(const ProteinChain& chain);

// The place of each residue, from 0: one more than the one before it, or at a break between two observed residues
// (BreaksOf) as many more as the author's numbers say.
HEADLIGHT_API std::vector<std::int32_t> PlacesOf(const ProteinChain& chain);

// The same residue under the other names of the atoms whose names are a convention: they are swapped, and the torsion
// and the frame between them are turned by half a turn. The same for a type that has none.
HEADLIGHT_API ResidueLabels Renamed(const ResidueLabels& residue);

// Algorithm 26: whether each residue's atoms lie closer to the prediction's under their other names, by their distances
// to all atoms of certain names. Never where only one of two such atoms is known. `predicted` has the atoms (atom14) of
// every residue. Throws Error for another number.
HEADLIGHT_API std::vector<bool> BetterRenamed(std::span<const ResidueLabels> residues,
                                              std::span<const std::array<Vector3, kAtom14>> predicted);

}  // namespace headlight
