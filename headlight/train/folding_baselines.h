// What may be said of a chain's structure without a model of proteins: baselines that a model of structures must beat.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/protein_chains.h"

namespace headlight {

struct BaselineScores {
  double lddt_ca = 0, tm_score = 0;  // the means over the chains, of the C alphas, from 0 to 1
};

// One structure for all chains: as many residues of it as a chain has, from its first on.
struct Prototype {
  std::string name;  // of the chain that it is
  std::vector<ResidueLabels> residues;
};

// The chain of `train` whose structure has the highest mean lDDT as that of every other: of at most 256 of them, which
// lie evenly among all.
HEADLIGHT_API Prototype BestPrototype(const ChainSet& train);

// Residues beyond the prototype's last have no atom.
HEADLIGHT_API BaselineScores ScorePrototype(const Prototype& prototype, const ChainSet& chains);

// The mean distances of C alphas in `train`, by the places between two residues and by their types.
class HEADLIGHT_API MeanDistances {
 public:
  explicit MeanDistances(const ChainSet& train);

  // [residues, residues] in angstrom. The mean of a pair of types is drawn to that of all types by ten observations; of
  // residues farther apart than in any chain it is that of the farthest.
  std::vector<double> Of(std::span<const ResidueLabels> residues) const;

 private:
  std::vector<double> means_;  // [separations, types, types]
};

// lDDT of these distances themselves. For the TM-score they are embedded in space by classical multidimensional scaling
// (Torgerson, "Multidimensional scaling: I. Theory and method", 1952), of whose two mirror images the better counts.
HEADLIGHT_API BaselineScores ScoreMeanDistances(const MeanDistances& distances, const ChainSet& chains);

}  // namespace headlight
