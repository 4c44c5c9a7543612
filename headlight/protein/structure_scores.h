// Computes similarity scores for two structures of one protein.
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

/// The scores that are maximized over superpositions of CA atoms. As in the program TMscore, the search starts from
/// fragments of several lengths, and refines each superposition on the atoms that are close.
struct SuperposedScores {
  double tm_score = 0;       // 0 to 1
  double gdt_ts = 0;         // 0 to 1: the mean fraction of residues within 1, 2, 4 and 8 A
  double gdt_ha = 0;         // 0 to 1: the mean fraction of residues within 0.5, 1, 2 and 4 A
  RigidFrame superposition;  // the superposition of the model on the reference with the best TM-score
};

/// Computes TM-score and GDT. `model` and `reference` [residues] are the CA positions of corresponding residues in
/// angstrom. The scores are relative to `length`, the length of the reference. TM-score is the mean over the
/// reference's residues of 1 / (1 + (d / d0)^2). Here, d0 = 1.24 (length - 15)^(1/3) - 1.8, but at least 0.5 (Zhang and
/// Skolnick, "Scoring function for automated assessment of protein structure template quality", 2004). GDT is defined
/// by Zemla, "LGA: A method for finding 3D similarities in protein structures", 2003. Throws Error for fewer than 3
/// residues or more than `length`.
HEADLIGHT_API SuperposedScores ScoreSuperposed(std::span<const Vector3> model, std::span<const Vector3> reference,
                                               std::int64_t length);

/// Returns d0 of the TM-score for a reference of `length` residues, in angstrom.
HEADLIGHT_API double TmScale(std::int64_t length);

/// Superposes all residues, and refines the superposition on the residues that are close as in ScoreSuperposed. Throws
/// the errors of ScoreSuperposed.
HEADLIGHT_API RigidFrame SuperposeClose(std::span<const Vector3> model, std::span<const Vector3> reference);

/// Returns the dRMSD: the root mean squared difference of the distances between all pairs of atoms, in angstrom.
HEADLIGHT_API double DistanceRootMeanSquare(std::span<const Vector3> model, std::span<const Vector3> reference);

/// The local distance difference test, lDDT (Mariani et al., "lDDT: a local superposition-free score for comparing
/// protein structures and models using distance difference tests", 2013). The score compares all distances below 15 A
/// between atoms of different residues in the reference. Its value is the mean fraction of distances that the model
/// preserves within 0.5, 1, 2 and 4 A. Distances to atoms that the model lacks count as not preserved.
struct LocalDistanceScore {
  double score = 0;                // 0 to 1, over all distances; 0 if there are none
  std::vector<double> by_residue;  // the score over the distances of each residue's atoms; -1 if there are none
};

inline constexpr double kLddtInclusion = 15;                              // in angstrom
inline constexpr std::array<double, 4> kLddtThresholds = {0.5, 1, 2, 4};  // in angstrom

/// Returns the number of thresholds that are greater than a difference of distances.
inline int KeptThresholds(double difference) {
  return static_cast<int>(
      std::count_if(kLddtThresholds.begin(), kLddtThresholds.end(), [&](double most) { return difference < most; }));
}

/// Computes the lDDT of corresponding residues [residues], over CA or over all atoms except OXT. Residues that the
/// model lacks have no known atoms. The symmetric atoms of ARG, ASP, GLU, LEU, PHE, TYR and VAL can be named in two
/// ways. The naming that preserves more distances to unambiguous atoms is used.
HEADLIGHT_API LocalDistanceScore ScoreLocalDistances(std::span<const Residue> model, std::span<const Residue> reference,
                                                     bool all_atoms);

/// Computes the RMSD in angstrom after superposition, over the atoms that are present in both of two corresponding
/// residues, except OXT. `model` and `reference` are [residues]. The symmetric atoms of ASP, GLU, PHE and TYR can be
/// named in two ways. The naming that is closer to the reference is used. Throws Error if there are no common atoms.
HEADLIGHT_API double AllAtomRootMeanSquare(std::span<const Residue> model, std::span<const Residue> reference);

/// The method that pairs the residues of two chains.
enum class Pairing {
  index,      // pairs residues with equal index; both chains must have the same sequence
  number,     // pairs residues with equal number and insertion code
  alignment,  // pairs residues by a local alignment of the sequences (protein/sequence_alignment.h)
};
HEADLIGHT_API std::string_view NameOf(Pairing pairing);

/// The corresponding residues of two chains, in the reference's order.
struct Correspondence {
  std::vector<Residue> model, reference;  // pairs of residues in which both have a CA
  /// Every observed residue of the reference, and the corresponding residue of the model. A residue that the model
  /// lacks is represented by a residue without known atoms. lDDT compares these residues.
  std::vector<Residue> model_or_none, whole_reference;
  std::int64_t reference_length = 0;  // the number of residues of the reference with a CA
  Pairing paired_by = Pairing::index;
  /// If the alignment is used because residues with equal numbers have different types: the number of such pairs.
  std::int64_t different = 0;
};

/// Pairs residues by `pairing`. If `pairing` is empty, residues are paired by index if both sequences are equal,
/// otherwise by number. The alignment is used if pairing by number finds no pairs or pairs of different types, and the
/// alignment finds more pairs of equal type. Throws Error if different sequences are paired by index, or if sequences
/// are too long to be aligned.
HEADLIGHT_API Correspondence Correspond(const ProteinChain& model, const ProteinChain& reference,
                                        std::optional<Pairing> pairing = std::nullopt);

/// Returns the fraction of the shorter sequence's residues that a local alignment pairs with identical residues. The
/// result is 1 for equal sequences and 0 if one sequence is empty. X matches no residue. Throws Error if the sequences
/// are too long to be aligned.
HEADLIGHT_API double SequenceIdentity(const ProteinChain& model, const ProteinChain& reference);

/// Returns the CA positions of the residues with a known CA.
HEADLIGHT_API std::vector<Vector3> CaOf(std::span<const Residue> residues);

}  // namespace headlight
