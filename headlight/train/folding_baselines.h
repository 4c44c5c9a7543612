// Baselines for structure prediction that need no trained model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/protein_chains.h"

namespace headlight {

struct BaselineScores {
  double lddt_ca = 0, tm_score = 0;  // means over the chains for C alpha atoms, from 0 to 1
};

/// A structure that is predicted for every chain, aligned at the first residue.
struct Prototype {
  std::string name;  // name of the chain that the structure is taken from
  std::vector<ResidueLabels> residues;
};

/// Returns the chain of `train` whose structure has the highest mean lDDT as a prediction for the other chains. At most
/// 256 evenly spaced chains are compared.
HEADLIGHT_API Prototype BestPrototype(const ChainSet& train);

/// Scores the prototype as a prediction for each chain. Residues after the prototype's last one have no predicted atom.
HEADLIGHT_API BaselineScores ScorePrototype(const Prototype& prototype, const ChainSet& chains);

/// The mean distances of C alpha atoms in `train`, by sequence separation and residue types.
class HEADLIGHT_API MeanDistances {
 public:
  explicit MeanDistances(const ChainSet& train);

  /// Returns predicted distances [residues, residues] in angstrom. The mean of a pair of types is shrunk towards the
  /// mean of all types, which counts as ten observations. For separations that are greater than any in `train`, the
  /// mean of the greatest separation in `train` is used.
  std::vector<double> Of(std::span<const ResidueLabels> residues) const;

 private:
  std::vector<double> means_;  // [separations, types, types]
};

/// Scores the mean distances as predictions. The lDDT is computed from the distances. For the TM-score, classical
/// multidimensional scaling (Torgerson, "Multidimensional scaling: I. Theory and method", 1952) converts the distances
/// to positions. The better of the two mirror images counts.
HEADLIGHT_API BaselineScores ScoreMeanDistances(const MeanDistances& distances, const ChainSet& chains);

}  // namespace headlight
