// The interface of models of protein structures, which fold a chain.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/alignment_grid.h"
#include "headlight/nn/model.h"
#include "headlight/nn/structure_module.h"

namespace headlight {

// The input of one pass: the features of a chain and its alignment (Jumper et al., "Highly accurate protein structure
// prediction with AlphaFold", 2021, supplement, table 1).
struct FoldingFeatures {
  std::vector<std::int32_t> types;   // of the residues, as in protein/residues.h
  std::vector<std::int32_t> places;  // in the chain: consecutive but at gaps
  Tensor target;                     // [residues, 22]
  Tensor alignment;                  // [rows * residues, 49]: the first row is the chain's
  AlignmentGrid::Marks present;      // of rows * residues, 0 for a cell that nothing may read; null: all are present
  Tensor extra;                      // [extra rows * residues, 25]
};

struct FoldingOutputs {
  Tensor alignment;  // [rows * residues, ...]
  Tensor pair;       // [residues * residues, ...]
  Tensor single;     // [residues, ...], before the structure module
  FoldedStructure structure;
  // Logits. Of a number of bins: the distance of each pair's C betas [residues * residues, bins], the lDDT of each
  // residue [residues, bins], and the error of each residue in the other's frame [residues * residues, bins], empty
  // where the model has no such head; and of the letters that an alignment's masked cells had [rows * residues, 23],
  // and of the atoms (atom37) that an experiment resolves [residues, 37].
  Tensor distances, lddt, aligned_errors, letters, resolved;
};

class HEADLIGHT_API FoldingModel : public Model {
 public:
  static constexpr std::string_view kKind = "model of protein structures";

  // Recycling: passes over one chain, each of which reads what the one before it gave. The last one's outputs, and
  // gradients through the last one alone. Throws Error without a pass, for shapes that do not fit and for a type that
  // there is not.
  virtual FoldingOutputs Fold(Context& context, std::span<const FoldingFeatures> passes) const = 0;

 protected:
  using Model::Model;
};

}  // namespace headlight
