// The interface of models of protein structures, which fold a chain.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/alignment_grid.h"
#include "headlight/nn/model.h"
#include "headlight/nn/structure_module.h"
#include "headlight/protein/templates.h"

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
  Tensor covariation = {};  // [residues * residues, 2] (nn/covariation.h), for models that read it; empty: zeros
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

// How a model was made to be used.
struct FoldingPlan {
  std::int64_t rows = 0, extra = 0;  // of an alignment, at most; 0: the model reads none
  int recycles = 3;                  // passes after the first
  int blocks = 0;                    // of a pass
  std::int64_t templates = 0;        // at most; 0: the model reads none
  int template_blocks = 0;           // of a pass, more for each template
  bool covariation = false;          // whether the model reads it
};

class HEADLIGHT_API FoldingModel : public Model {
 public:
  static constexpr std::string_view kKind = "model of protein structures";

  virtual FoldingPlan plan() const = 0;

  // One pass over a chain. `before` are the outputs of the pass before it, whose alignment, pair and structure it
  // recycles without gradients; null: it is the first. Features without extra rows are those of an alignment that has
  // no more. `after_block` is called after each block, and may end the pass by an exception. Throws Error for shapes
  // that do not fit and for an unknown residue type.
  virtual FoldingOutputs Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                              const std::function<void()>& after_block = {}) const = 0;

  // Passes over one chain, one after another. The last one's outputs, and gradients through the last one alone. Throws
  // Error without a pass, and likewise.
  FoldingOutputs Fold(Context& context, std::span<const FoldingFeatures> passes) const;

 protected:
  using Model::Model;
  // Throws Error where residues and places do not fit, for an unknown residue type, and for a pass before of another
  // chain's length.
  void CheckChain(const FoldingFeatures& features, const FoldingOutputs* before) const;
};

}  // namespace headlight
