// How alike two structures of one protein are.
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

// Scores that a superposition of CA atoms maximizes: over those of fragments of all lengths, each refined on the atoms
// that lie close, as the program TMscore searches.
struct SuperposedScores {
  double tm_score = 0;       // 0 to 1
  double gdt_ts = 0;         // 0 to 1: the mean share of residues within 1, 2, 4 and 8 A
  double gdt_ha = 0;         // within 0.5, 1, 2 and 4 A
  RigidFrame superposition;  // of the model on the reference, the best by TM-score
};

// `model` and `reference` [residues], CA positions in angstrom, of corresponding residues; `length`, of the reference,
// to which TM-score and GDT are relative. TM-score: the mean over the reference's residues of 1 / (1 + (d / d0)^2), d0
// = 1.24 (length - 15)^(1/3) - 1.8, at least 0.5 (Zhang and Skolnick, "Scoring function for automated assessment of
// protein structure template quality", 2004). GDT: Zemla, "LGA: A method for finding 3D similarities in protein
// structures", 2003. Throws Error for fewer than 3 residues, or more than `length`.
HEADLIGHT_API SuperposedScores ScoreSuperposed(std::span<const Vector3> model, std::span<const Vector3> reference,
                                               std::int64_t length);

/// The d0 of TM-score for a reference of `length` residues, in angstrom.
HEADLIGHT_API double TmScale(std::int64_t length);

/// The superposition of all residues, refined on those that lie close as ScoreSuperposed refines it. Throws Error as
/// that does.
HEADLIGHT_API RigidFrame SuperposeClose(std::span<const Vector3> model, std::span<const Vector3> reference);

// The root of the mean squared difference of all distances between pairs of atoms (dRMSD), in angstrom.
HEADLIGHT_API double DistanceRootMeanSquare(std::span<const Vector3> model, std::span<const Vector3> reference);

// The local distance difference test (Mariani et al., "lDDT: a local superposition-free score for comparing protein
// structures and models using distance difference tests", 2013): of the distances below 15 A between atoms of different
// residues of the reference, the mean share that the model keeps within 0.5, 1, 2 and 4 A. A distance to an atom that
// the model does not have is not kept.
struct LocalDistanceScore {
  double score = 0;                // 0 to 1, over all distances; of no distance at all 0
  std::vector<double> by_residue;  // of the distances of a residue's atoms; -1 where there is none
};

inline constexpr double kLddtInclusion = 15;                              // angstrom
inline constexpr std::array<double, 4> kLddtThresholds = {0.5, 1, 2, 4};  // likewise

// How many of the thresholds a difference of distances keeps within.
inline int KeptThresholds(double difference) {
  return static_cast<int>(
      std::count_if(kLddtThresholds.begin(), kLddtThresholds.end(), [&](double most) { return difference < most; }));
}

// The lDDT of corresponding residues [residues], over CA or over all atoms but OXT. A residue that the model lacks has
// no known atoms. In the paper's partially symmetric residues (ARG, ASP, GLU, LEU, PHE, TYR and VAL) the
// model's names are those of the two namings by which the residue keeps more distances to atoms of certain names.
HEADLIGHT_API LocalDistanceScore ScoreLocalDistances(std::span<const Residue> model, std::span<const Residue> reference,
                                                     bool all_atoms);

// Of corresponding residues [residues]: the root of the mean squared distance, in angstrom, of the atoms of one name
// that both have, but OXT, superposed on one another. In ASP, GLU, PHE and TYR the model's names are those of the
// two namings by which its atoms lie nearer. Throws Error where they share no atom.
HEADLIGHT_API double AllAtomRootMeanSquare(std::span<const Residue> model, std::span<const Residue> reference);

// How the residues of two chains are paired.
enum class Pairing {
  index,      // those at the same index; both chains have the same sequence
  number,     // those with the same number and insertion code
  alignment,  // those that a local alignment of the sequences pairs (protein/sequence_alignment.h)
};
HEADLIGHT_API std::string_view NameOf(Pairing pairing);

// The residues of two chains that correspond, in the reference's order.
struct Correspondence {
  std::vector<Residue> model, reference;  // pairs of which both have a CA
  // Every observed residue of the reference and the model's; one without known atoms where the model has none. For
  // lDDT.
  std::vector<Residue> model_or_none, whole_reference;
  std::int64_t reference_length = 0;  // residues of the reference that have a CA
  Pairing paired_by = Pairing::index;
  std::int64_t different = 0;  // pairs by number of two residue types, neither X, where they were not used for that
};

// Pairs by `pairing`. Without it by index if both sequences are the same, else by number, unless numbers pair different
// residues (or none) and the alignment pairs more of the same type. Throws Error where sequences are to be paired by
// index and differ, or are too long to be aligned.
HEADLIGHT_API Correspondence Correspond(const ProteinChain& model, const ProteinChain& reference,
                                        std::optional<Pairing> pairing = std::nullopt);

/// The share of the shorter sequence's residues that a local alignment pairs with equal ones; 1 for equal sequences,
/// 0 where one is empty. X equals nothing. Throws Error for sequences that are too long to be aligned.
HEADLIGHT_API double SequenceIdentity(const ProteinChain& model, const ProteinChain& reference);

// The CA positions of residues that have one.
HEADLIGHT_API std::vector<Vector3> CaOf(std::span<const Residue> residues);

}  // namespace headlight
