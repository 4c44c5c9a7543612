// The losses of AlphaFold 2 (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021,
// supplement, section 1.9).
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
  /// For each cell of the alignment, in the order of FoldingOutputs::letters: the letter that was masked, or -1.
  std::vector<std::int32_t> letters;
  /// The share of the backbone's frame-aligned error that is clamped: in AlphaFold's training 1 for nine of ten
  /// structures, otherwise 0.
  double clamped_share = 1;
};

/// Each loss is [1], without its weight.
struct FoldingLosses {
  Tensor backbone;        // frame-aligned point error of the backbone, the mean over the structure module's blocks
  Tensor side_chains;     // the same for all rigid groups and atoms of the last block
  Tensor torsions;        // chi1 to chi4, and the norms of all torsion vectors before normalization
  Tensor distances;       // cross-entropy of the binned C beta distances
  Tensor letters;         // cross-entropy of masked letters
  Tensor lddt;            // cross-entropy of each residue's binned lDDT
  Tensor aligned_errors;  // cross-entropy of binned aligned errors; empty if the model has no such head
  Tensor resolved;        // whether atoms are experimentally resolved
  Tensor violations;      // invalid bonds and angles, and clashes; empty if its weight is 0
  Tensor smooth_lddt;     // of C alphas, the mean over the blocks; not in AlphaFold 2; empty if its weight is 0
};

/// The defaults are those of AlphaFold's initial training. Its fine-tuning has the weights 0.01 for resolved and 1 for
/// violations.
struct FoldingLossWeights {
  double backbone = 0.5, side_chains = 0.5, torsions = 1, distances = 0.3, letters = 2, lddt = 0.01,
         aligned_errors = 0.1, resolved = 0, violations = 0, smooth_lddt = 0;
};

/// Gradients flow through the outputs, but not through the targets of lDDT and aligned errors, which depend on the
/// outputs too. A loss without known labels is 0. Throws Error if labels and outputs do not fit.
HEADLIGHT_API FoldingLosses LossesOf(const FoldingOutputs& outputs, const FoldingLabels& labels,
                                     const FoldingLossWeights& weights);

/// The loss [1]: scale times the weighted sum times the square root of the number of residues (section 1.9).
HEADLIGHT_API Tensor FoldingLoss(const FoldingOutputs& outputs, const FoldingLabels& labels,
                                 const FoldingLossWeights& weights, double scale);

/// The residues with a known C alpha, and only that atom.
struct KnownAlphas {
  std::vector<std::size_t> indices;  // indices among all residues
  std::vector<Residue> reference, model;
};
HEADLIGHT_API KnownAlphas KnownAlphasOf(std::span<const ResidueLabels> labels,
                                        std::span<const std::array<Vector3, kAtom14>> predicted);

/// The positions of the atoms (atom14) of each residue in a predicted structure's last block, in angstrom.
HEADLIGHT_API std::vector<std::array<Vector3, kAtom14>> AtomsOf(const FoldedStructure& structure);

}  // namespace headlight
