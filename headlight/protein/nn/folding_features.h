// Inputs and outputs of a pass over a protein chain.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/nn/alignment_grid.h"
#include "headlight/protein/nn/structure_module.h"
#include "headlight/protein/templates.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct AlignmentFeatures;  // protein/alignment_features.h

/// The inputs of a pass: the features of a chain and its alignment (Jumper et al., "Highly accurate protein structure
/// prediction with AlphaFold", 2021, supplement, table 1).
struct FoldingFeatures {
  std::vector<std::int32_t> types;          // residue types, as in protein/residues.h
  std::vector<std::int32_t> positions;      // positions in the chain: consecutive except at gaps
  Tensor target;                            // [residues, 22]
  Tensor alignment;                         // [rows * residues, 49]: the first row is the chain's
  AlignmentGrid::Marks present;             // [rows * residues], 0 for a cell that is masked out; null: all are present
  Tensor extra;                             // [extra rows * residues, 25]
  std::vector<TemplateFeatures> templates;  // empty: a chain without templates
  Tensor covariation =
      {};  // [residues * residues, 2] (protein/nn/covariation.h), for models that read it; empty: zeros
};

/// Converts sampled features of an alignment (protein/alignment_features.h) to model inputs, with the residues'
/// `positions` in the chain (if empty: 0, 1, 2, ...) and templates.
HEADLIGHT_API FoldingFeatures FeaturesForModel(const AlignmentFeatures& drawn, std::vector<std::int32_t> positions = {},
                                               std::vector<TemplateFeatures> templates = {});

struct FoldingOutputs {
  Tensor alignment;  // [rows * residues, ...]
  Tensor pair;       // [residues * residues, ...]
  Tensor single;     // [residues, ...], before the structure module
  Tensor sequence;   // [residues, ...]: the language model's output for the chain, the same in each pass; empty: none
  FoldedStructure structure;
  /// Logits over bins: the C beta distance of each pair [residues * residues, bins], the lDDT of each residue
  /// [residues, bins], and the aligned error of each pair [residues * residues, bins], empty if the model has no such
  /// head. Logits over classes: the letters of masked cells [rows * residues, 23], and whether each atom (atom37) is
  /// experimentally resolved [residues, 37].
  Tensor distances, lddt, aligned_errors, letters, resolved;
  /// Logits of each atom's lDDT [residues, 37 * bins] (atom37); those of C alpha are `lddt`. Empty: no such head.
  Tensor atom_lddt;
};

}  // namespace headlight
