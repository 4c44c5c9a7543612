// The losses by which a model learns from structures, those of AlphaFold 2 (Jumper et al., "Highly accurate
// protein structure prediction with AlphaFold", 2021, supplement, section 1.9).
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
  // Of the alignment's cells, as FoldingOutputs::letters numbers them: the letter that was masked, or -1.
  std::vector<std::int32_t> letters;
  // Of the backbones' frame-aligned errors, the share that is clamped: in training 1 for nine structures of ten, else
  // 0.
  double clamped_share = 1;
};

// Each [1], without its weight.
struct FoldingLosses {
  Tensor backbone;        // frame-aligned error of the backbones, the mean over the structure module's blocks
  Tensor side_chains;     // and of all rigid groups and atoms, of the last block
  Tensor torsions;        // chi1 to chi4, and the length of all torsions' vectors before they are normalized
  Tensor distances;       // cross-entropy of the bins of C betas' distances
  Tensor letters;         // of masked letters
  Tensor lddt;            // of the bins of each residue's lDDT
  Tensor aligned_errors;  // of the bins of aligned errors; empty where the model has no such head
  Tensor resolved;        // of which atoms an experiment resolves
  Tensor violations;      // impossible bonds, angles and clashes; empty where its weight is 0
  Tensor smooth_lddt;     // of C alphas, the mean over the blocks; not of AlphaFold 2; empty where its weight is 0
};

// The defaults are those of the first part of the authors' training; in its second part, fine-tuning, resolved has 0.01
// and violations 1.
struct FoldingLossWeights {
  double backbone = 0.5, side_chains = 0.5, torsions = 1, distances = 0.3, letters = 2, lddt = 0.01,
         aligned_errors = 0.1, resolved = 0, violations = 0, smooth_lddt = 0;
};

// Gradients are those of the outputs; the bins of lDDT and of aligned errors, which depend on them too, pass none on.
// A loss of which no label is known is 0. Throws Error where labels and outputs do not fit.
HEADLIGHT_API FoldingLosses LossesOf(const FoldingOutputs& outputs, const FoldingLabels& labels,
                                     const FoldingLossWeights& weights);

// [1]: scale times their weighted sum times the root of the number of residues (section 1.9).
HEADLIGHT_API Tensor FoldingLoss(const FoldingOutputs& outputs, const FoldingLabels& labels,
                                 const FoldingLossWeights& weights, double scale);

// The residues whose C alpha is known, with that atom alone.
struct KnownAlphas {
  std::vector<std::size_t> places;  // among all residues
  std::vector<Residue> reference, model;
};
HEADLIGHT_API KnownAlphas KnownAlphasOf(std::span<const ResidueLabels> labels,
                                        std::span<const std::array<Vector3, kAtom14>> predicted);

// Positions in space, of a predicted structure's last block: the atoms (atom14) of each residue, in angstrom.
HEADLIGHT_API std::vector<std::array<Vector3, kAtom14>> AtomsOf(const FoldedStructure& structure);

}  // namespace headlight
