// A protein chain and its prediction as plain data, for drawings and pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/secondary_structure.h"
#include "headlight/protein/structure.h"

namespace headlight {

/// The backbone at one step of the prediction, such as after a block of the structure module.
struct StructureMoment {
  std::string name;
  std::vector<BackboneAtoms> backbone;  ///< one per residue, superposed on the backbone of the last moment
};

/// All heads of one attention over residues.
struct ResidueAttention {
  std::string title;  ///< such as "Row attention"
  int layer = 0;      ///< from 0; displayed from 1
  int heads = 0;
  std::vector<float> weights;  ///< [heads, residue, residue]; a row sums to 1
};

/// A matrix over pairs of residues, in angstrom.
struct ResiduePairs {
  std::vector<float> values;  ///< [residue, residue]
  float most = 0;             ///< the end of the scale
};

struct StructureRecord {
  std::string title;
  ProteinChain chain;  ///< every residue has its backbone; for predictions, B factors are pLDDT
  bool predicted = true;
  ResiduePairs errors, distances;        ///< expected aligned error and expected distance; empty if there is none
  std::vector<StructureMoment> moments;  ///< the last one is the final chain
  std::vector<ResidueAttention> attention;
};

/// Returns the backbone of a chain. Throws Error naming the residue if its N, CA, C or O is unknown.
HEADLIGHT_API std::vector<BackboneAtoms> BackboneOf(const ProteinChain& chain);

/// Throws Error unless there is a residue, every matrix, moment and attention matches the chain, and there are at most
/// kMostWeights weights in total.
HEADLIGHT_API void CheckStructure(const StructureRecord& record);

}  // namespace headlight
