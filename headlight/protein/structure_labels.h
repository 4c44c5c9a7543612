// Training labels from a structure (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021,
// supplement, section 1.2.9 and algorithm 26).
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

/// The labels of a residue, in angstrom. A value is unknown and zero if the atoms that define it are not known.
struct ResidueLabels {
  std::int32_t type = kUnknownResidue;
  std::int32_t position = 0;  // in the chain: consecutive except at gaps
  std::array<Vector3, kAtom14> atoms{};
  std::array<bool, kAtom14> known{};
  std::array<bool, kAtom37> resolved{};         // by atom37, for atoms that the type has
  std::array<RigidFrame, kRigidGroups> frames;  // by rigid group
  std::array<bool, kRigidGroups> frame_known{};
  /// Sine and cosine of omega, phi, psi and chi1 to chi4. psi is that of O, as described in residues.h.
  std::array<std::array<double, 2>, 7> torsions{};
  std::array<bool, 7> torsion_known{};
  Vector3 beta;  // C beta, C alpha for glycine
  bool beta_known = false;
};

/// The labels of all residues, including those without a known atom. Three collinear atoms, or two at the same
/// position, define no frame.
HEADLIGHT_API std::vector<ResidueLabels> LabelsOf(const ProteinChain& chain);

/// The position of each residue, from 0. It increases by one, or at a break between two observed residues (BreaksOf) by
/// the difference of the author's numbers.
HEADLIGHT_API std::vector<std::int32_t> PositionsOf(const ProteinChain& chain);

/// The residue with ambiguous atom names swapped, and the torsion and the frame between the atoms rotated by half a
/// turn. Unchanged for types without ambiguous atoms.
HEADLIGHT_API ResidueLabels Renamed(const ResidueLabels& residue);

/// Algorithm 26: whether renaming each residue's ambiguous atoms brings it closer to the prediction, measured by the
/// distances to all unambiguous atoms. False if only one of two ambiguous atoms is known. `predicted` has the atoms
/// (atom14) of every residue. Throws Error for another number of residues.
HEADLIGHT_API std::vector<bool> BetterRenamed(std::span<const ResidueLabels> residues,
                                              std::span<const std::array<Vector3, kAtom14>> predicted);

}  // namespace headlight
