// A folded chain, and how a model came to it, as plain data for images and pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/secondary_structure.h"
#include "headlight/protein/structure.h"

namespace headlight {

// The backbone at a moment of folding, such as after a block of the structure module.
struct StructureMoment {
  std::string name;
  std::vector<BackboneAtoms> backbone;  // of each residue, superposed onto the last moment's
};

// Every head of one attention over residues.
struct ResidueAttention {
  std::string title;  // "Row attention"
  int layer = 0;      // from 0; shown from 1
  int heads = 0;
  std::vector<float> weights;  // [heads, residue, residue]; a row sums to 1
};

// A matrix over pairs of residues, in angstrom.
struct ResiduePairs {
  std::vector<float> values;  // [residue, residue]
  float most = 0;             // the end of its scale
};

struct StructureRecord {
  std::string title;
  ProteinChain chain;  // every residue with its backbone; its B factors are pLDDT where it is predicted
  bool predicted = true;
  ResiduePairs errors, distances;        // expected aligned error and expected distance; empty where there is none
  std::vector<StructureMoment> moments;  // the last is the chain as it stands
  std::vector<ResidueAttention> attention;
};

// The backbone of a chain. Throws Error naming the residue whose N, CA, C or O is not known.
HEADLIGHT_API std::vector<BackboneAtoms> BackboneOf(const ProteinChain& chain);

// Throws Error unless there is a residue, every matrix, moment and attention fits the chain, and all together hold at
// most kMostWeights weights.
HEADLIGHT_API void CheckStructure(const StructureRecord& record);

}  // namespace headlight
