// Scores of the similarity of two structures of one protein.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/structure.h"
#include "headlight/protein/vector3.h"

namespace headlight {

/// Scores that are maximized over superpositions of CA atoms. Like the program TMscore, the search starts from
/// fragments of all lengths and refines each on the atoms that are close.
struct SuperposedScores {
  double tm_score = 0;       // 0 to 1
  double gdt_ts = 0;         // 0 to 1: mean share of residues within 1, 2, 4 and 8 A
  double gdt_ha = 0;         // the same for 0.5, 1, 2 and 4 A
  RigidFrame superposition;  // of the model on the reference, the best one by TM-score
};

/// `model` and `reference` [residues] are CA positions in angstrom of corresponding residues. TM-score and GDT are
/// relative to `length`, the length of the reference. TM-score is the mean over the reference's residues of 1 / (1 + (d
/// / d0)^2) with d0 = 1.24 (length - 15)^(1/3) - 1.8, at least 0.5 (Zhang and Skolnick, "Scoring function for automated
/// assessment of protein structure template quality", 2004). GDT is that of Zemla, "LGA: A method for finding 3D
/// similarities in protein structures", 2003. Throws Error for fewer than 3 residues, or more than `length`.
HEADLIGHT_API SuperposedScores ScoreSuperposed(std::span<const Vector3> model, std::span<const Vector3> reference,
                                               std::int64_t length);

/// The d0 of TM-score for a reference of `length` residues, in angstrom.
HEADLIGHT_API double TmScale(std::int64_t length);

/// The superposition of all residues, refined on those that are close as in ScoreSuperposed. Throws the same errors.
HEADLIGHT_API RigidFrame SuperposeClose(std::span<const Vector3> model, std::span<const Vector3> reference);

/// dRMSD: the root mean squared difference of all distances between pairs of atoms, in angstrom.
HEADLIGHT_API double DistanceRootMeanSquare(std::span<const Vector3> model, std::span<const Vector3> reference);

/// The local distance difference test, lDDT (Mariani et al., "lDDT: a local superposition-free score for comparing
/// protein structures and models using distance difference tests", 2013). Considers the distances below 15 A between
/// atoms of different residues of the reference. The score is the mean share that the model preserves within 0.5, 1, 2
/// and 4 A. Distances to atoms that the model lacks are not preserved.
struct LocalDistanceScore {
  double score = 0;                // 0 to 1, over all distances; 0 if there is none
  std::vector<double> by_residue;  // over the distances of a residue's atoms; -1 if there is none
};

inline constexpr double kLddtInclusion = 15;                              // angstrom
inline constexpr std::array<double, 4> kLddtThresholds = {0.5, 1, 2, 4};  // angstrom

/// The number of thresholds that a difference of distances is within.
inline int KeptThresholds(double difference) {
  return static_cast<int>(
      std::count_if(kLddtThresholds.begin(), kLddtThresholds.end(), [&](double most) { return difference < most; }));
}

/// The lDDT of corresponding residues [residues], over CA or over all atoms except OXT. A residue that the model lacks
/// has no known atoms. For the paper's partially symmetric residues (ARG, ASP, GLU, LEU, PHE, TYR and VAL), the naming
/// of the model's atoms is used that preserves more distances to unambiguous atoms.
HEADLIGHT_API LocalDistanceScore ScoreLocalDistances(std::span<const Residue> model, std::span<const Residue> reference,
                                                     bool all_atoms);

/// The RMSD in angstrom over the atoms of corresponding residues [residues] that both have, except OXT, after
/// superposition. The symmetric atoms of ASP, GLU, PHE and TYR can be named in two ways. The naming that is closer
/// to the reference is used. Throws Error if there are no common atoms.
HEADLIGHT_API double AllAtomRootMeanSquare(std::span<const Residue> model, std::span<const Residue> reference);

/// How the residues of two chains are paired.
enum class Pairing {
  index,      // equal index; both chains must have the same sequence
  number,     // equal number and insertion code
  alignment,  // by a local alignment of the sequences (protein/sequence_alignment.h)
};
HEADLIGHT_API std::string_view NameOf(Pairing pairing);

/// The corresponding residues of two chains, in the reference's order.
struct Correspondence {
  std::vector<Residue> model, reference;  // pairs in which both have a CA
  /// Every observed residue of the reference and the corresponding one of the model, which has no known atoms if the
  /// model lacks it. For lDDT.
  std::vector<Residue> model_or_none, whole_reference;
  std::int64_t reference_length = 0;  // residues of the reference that have a CA
  Pairing paired_by = Pairing::index;
  std::int64_t different =
      0;  // pairs by number with different known residue types, if numbers were not used because of them
};

/// Pairs residues by `pairing`. Without it, by index if both sequences are equal, otherwise by number. The alignment is
/// used instead if numbers pair different residues (or none) and the alignment pairs more residues of equal type.
/// Throws Error if sequences that differ are paired by index, or sequences are too long to be aligned.
HEADLIGHT_API Correspondence Correspond(const ProteinChain& model, const ProteinChain& reference,
                                        std::optional<Pairing> pairing = std::nullopt);

/// The share of the shorter sequence's residues that a local alignment pairs with identical residues: 1 for equal
/// sequences, 0 if one is empty. X matches no residue. Throws Error for sequences that are too long to be aligned.
HEADLIGHT_API double SequenceIdentity(const ProteinChain& model, const ProteinChain& reference);

/// The CA positions of the residues that have one.
HEADLIGHT_API std::vector<Vector3> CaOf(std::span<const Residue> residues);

}  // namespace headlight
