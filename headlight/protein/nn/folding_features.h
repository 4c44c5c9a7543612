// Defines the inputs and outputs of a structure prediction model.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/nn/alignment_grid.h"
#include "headlight/protein/nn/structure_module.h"
#include "headlight/protein/templates.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct AlignmentFeatures;  // defined in protein/alignment_features.h

/// The inputs of a forward pass: the features of a chain and its alignment (Jumper et al., "Highly accurate protein
/// structure prediction with AlphaFold", 2021, supplement, table 1).
struct FoldingFeatures {
  std::vector<std::int32_t> types;      // [residues] residue types, as in protein/residues.h
  std::vector<std::int32_t> positions;  // [residues] positions in the chain, consecutive except at gaps
  Tensor target;                        // [residues, 22]
  Tensor alignment;                     // [rows * residues, 49] the first row is the chain
  AlignmentGrid::Marks present;  // [rows * residues] 0 for a cell that is masked out; null if all cells are present
  Tensor extra;                  // [extra rows * residues, 25]
  std::vector<TemplateFeatures> templates;  // empty for a chain without templates
  // [residues * residues, 2] features of Covariation, if the model uses them; empty means zeros
  Tensor covariation = {};
};

/// Converts sampled features of an alignment (protein/alignment_features.h) to model inputs. `positions` are the
/// positions of the residues in the chain. If they are empty, 0, 1, 2, ... are used.
HEADLIGHT_API FoldingFeatures FeaturesForModel(const AlignmentFeatures& drawn, std::vector<std::int32_t> positions = {},
                                               std::vector<TemplateFeatures> templates = {});

struct FoldingOutputs {
  Tensor alignment;  // [rows * residues, ...]
  Tensor pair;       // [residues * residues, ...]
  Tensor single;     // [residues, ...], before the structure module
  Tensor sequence;   // [residues, ...] the language model's output for the chain, equal in each pass; empty if there is
                     // no language model
  FoldedStructure structure;
  /// Logits over bins:
  /// - distances: the C beta distance of each pair, [residues * residues, bins];
  /// - lddt: the lDDT of each residue, [residues, bins];
  /// - aligned_errors: the aligned error of each pair, [residues * residues, bins], empty if the model has no such
  ///   head.
  /// Logits over classes:
  /// - letters: the letters of masked cells, [rows * residues, 23];
  /// - resolved: the experimentally resolved atoms (atom37), [residues, 37].
  Tensor distances, lddt, aligned_errors, letters, resolved;
  /// Logits of each atom's lDDT (atom37), [residues, 37 * bins]. The logits of the C alphas are equal to `lddt`. Empty
  /// if the model has no such head.
  Tensor atom_lddt;
};

}  // namespace headlight
