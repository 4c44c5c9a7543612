// Computes the losses of AlphaFold 2 (Jumper et al., "Highly accurate protein structure prediction with AlphaFold",
// 2021, supplement, section 1.9).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/nn/folding_features.h"
#include "headlight/protein/structure_labels.h"

namespace headlight {

struct FoldingLabels {
  std::vector<ResidueLabels> residues;
  /// The original letter of each masked cell of the alignment, otherwise -1. The order is the same as in
  /// FoldingOutputs::letters.
  std::vector<std::int32_t> letters;
  /// The fraction of the backbone's frame-aligned error that is clamped. In AlphaFold's training, this is 1 for nine of
  /// ten structures, otherwise 0.
  double clamped_share = 1;
};

/// The unweighted losses, each of shape [1].
struct FoldingLosses {
  Tensor backbone;        // frame-aligned point error of the backbone, averaged over the structure module's blocks
  Tensor side_chains;     // frame-aligned point error of all rigid groups and atoms of the last block
  Tensor torsions;        // errors of chi1 to chi4, and of the norms of all torsion vectors before normalization
  Tensor distances;       // cross-entropy of the binned C beta distances
  Tensor letters;         // cross-entropy of masked letters
  Tensor lddt;            // cross-entropy of each residue's binned lDDT
  Tensor aligned_errors;  // cross-entropy of binned aligned errors; empty if the model has no such head
  Tensor resolved;        // cross-entropy of the prediction of experimentally resolved atoms
  Tensor violations;      // invalid bonds, invalid angles and clashes; empty if its weight is 0
  Tensor smooth_lddt;     // smooth lDDT loss of C alphas, averaged over the blocks; not in AlphaFold 2; empty if its
                          // weight is 0
};

/// The weights of the losses. The defaults are the weights of AlphaFold's initial training. AlphaFold's fine-tuning
/// uses the weights 0.01 for `resolved` and 1 for `violations`.
struct FoldingLossWeights {
  double backbone = 0.5, side_chains = 0.5, torsions = 1, distances = 0.3, letters = 2, lddt = 0.01,
         aligned_errors = 0.1, resolved = 0, violations = 0, smooth_lddt = 0;
};

/// Computes the losses. The targets of lDDT and aligned errors depend on the outputs, but gradients do not flow through
/// them. A loss without known labels is 0. Throws Error if the labels do not match the outputs.
HEADLIGHT_API FoldingLosses LossesOf(const FoldingOutputs& outputs, const FoldingLabels& labels,
                                     const FoldingLossWeights& weights);

/// Computes the total loss [1]: scale * (weighted sum of the losses) * sqrt(number of residues) (section 1.9).
HEADLIGHT_API Tensor FoldingLoss(const FoldingOutputs& outputs, const FoldingLabels& labels,
                                 const FoldingLossWeights& weights, double scale);

/// The residues whose C alpha is known, with only this atom.
struct KnownAlphas {
  std::vector<std::size_t> indices;  // indices among all residues
  std::vector<Residue> reference, model;
};
HEADLIGHT_API KnownAlphas KnownAlphasOf(std::span<const ResidueLabels> labels,
                                        std::span<const std::array<Vector3, kAtom14>> predicted);

/// Returns the positions of each residue's atoms (atom14) in the last block of a predicted structure, in angstrom.
HEADLIGHT_API std::vector<std::array<Vector3, kAtom14>> AtomsOf(const FoldedStructure& structure);

}  // namespace headlight
