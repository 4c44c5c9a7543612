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

// The input of one pass: the features of a chain and its alignment (Jumper et al., "Highly accurate protein structure
// prediction with AlphaFold", 2021, supplement, table 1).
struct FoldingFeatures {
  std::vector<std::int32_t> types;   // of the residues, as in protein/residues.h
  std::vector<std::int32_t> places;  // in the chain: consecutive but at gaps
  Tensor target;                     // [residues, 22]
  Tensor alignment;                  // [rows * residues, 49]: the first row is the chain's
  AlignmentGrid::Marks present;      // of rows * residues, 0 for a cell that nothing may read; null: all are present
  Tensor extra;                      // [extra rows * residues, 25]
  std::vector<TemplateFeatures> templates;  // none: as for a chain that has none
  Tensor covariation =
      {};  // [residues * residues, 2] (protein/nn/covariation.h), for models that read it; empty: zeros
};

// Features that were drawn of an alignment (protein/alignment_features.h), as a model reads them: of residues at these
// places, or without any at 0, 1, 2 and so on; and of templates.
HEADLIGHT_API FoldingFeatures FeaturesForModel(const AlignmentFeatures& drawn, std::vector<std::int32_t> places = {},
                                               std::vector<TemplateFeatures> templates = {});

struct FoldingOutputs {
  Tensor alignment;  // [rows * residues, ...]
  Tensor pair;       // [residues * residues, ...]
  Tensor single;     // [residues, ...], before the structure module
  Tensor sequence;   // [residues, ...]: what a language model makes of the chain, the same in each pass; empty: none
  FoldedStructure structure;
  // Logits. Of a number of bins: the distance of each pair's C betas [residues * residues, bins], the lDDT of each
  // residue [residues, bins], and the error of each residue in the other's frame [residues * residues, bins], empty
  // where the model has no such head; and of the letters that an alignment's masked cells had [rows * residues, 23],
  // and of the atoms (atom37) that an experiment resolves [residues, 37].
  Tensor distances, lddt, aligned_errors, letters, resolved;
  Tensor atom_lddt;  // [residues, 37 * bins]: of each atom (atom37), whose C alpha's is lddt; empty: no such head
};

}  // namespace headlight
