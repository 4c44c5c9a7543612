// Computes training labels from a structure (Jumper et al., "Highly accurate protein structure prediction with
// AlphaFold", 2021, supplement, section 1.2.9 and algorithm 26).
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

/// The labels of a residue, in angstrom. A value is marked as unknown and is zero if an atom that defines it is not
/// known.
struct ResidueLabels {
  std::int32_t type = kUnknownResidue;
  std::int32_t position = 0;  // the position in the chain, consecutive except at gaps
  std::array<Vector3, kAtom14> atoms{};
  std::array<bool, kAtom14> known{};
  std::array<bool, kAtom37> resolved{};         // true if the atom (atom37) is known
  std::array<RigidFrame, kRigidGroups> frames;  // the frame of each rigid group
  std::array<bool, kRigidGroups> frame_known{};
  /// The sine and cosine of omega, phi, psi and chi1 to chi4. psi is computed from O, as described in residues.h.
  std::array<std::array<double, 2>, 7> torsions{};
  std::array<bool, 7> torsion_known{};
  Vector3 beta;  // C beta, or C alpha for glycine
  bool beta_known = false;
};

/// Returns the labels of all residues, including residues without known atoms. Three collinear atoms, or two atoms at
/// the same position, define no frame.
HEADLIGHT_API std::vector<ResidueLabels> LabelsOf(const ProteinChain& chain);

/// Returns the position of each residue, starting at 0. Positions increase by one, except at a break between two
/// observed residues (BreaksOf). At such a break, they increase by the difference of the author's residue numbers, but
/// at least by one.
HEADLIGHT_API std::vector<std::int32_t> PositionsOf(const ProteinChain& chain);

/// Returns the residue with ambiguous atom names swapped. The torsion and the frame between these atoms are rotated by
/// 180 degrees. Types without ambiguous atoms are unchanged.
HEADLIGHT_API ResidueLabels Renamed(const ResidueLabels& residue);

/// Implements algorithm 26. Returns true for a residue if renaming its ambiguous atoms brings them closer to the
/// prediction, measured by the distances to all unambiguous atoms. Returns false for a residue if only one of two
/// ambiguous atoms is known. `predicted` has the atoms (atom14) of every residue. Throws Error if the numbers of
/// residues differ.
HEADLIGHT_API std::vector<bool> BetterRenamed(std::span<const ResidueLabels> residues,
                                              std::span<const std::array<Vector3, kAtom14>> predicted);

}  // namespace headlight
