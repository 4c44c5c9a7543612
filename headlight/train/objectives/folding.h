// Training of models of protein structures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/protein_chains.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/protein/nn/folding_loss.h"
#include "headlight/train/training_task.h"

namespace headlight {

inline constexpr double kClampedShare = 0.9;  // of the authors' training

struct FoldingTrainingOptions {
  BatchOptions batches;            // its size is in chains
  std::int64_t crop = 256;         // residues: of a longer chain so many in a row are drawn
  double clamped = kClampedShare;  // the probability that a chain's frame-aligned errors of backbones are
  FoldingLossWeights weights = {};
};

// The loss is the mean of the chains' (protein/nn/folding_loss.h). Drawn anew in each epoch: the crop, the alignment's
// rows and masked letters for each pass, of n templates from none to n but at most as many as the model reads, whether
// the backbone's errors are clamped, and, for all chains of a batch, how many passes there are, from 1 to the model's
// (FoldingPlan). Alignments are read when they are needed.
//
// A validation folds whole chains in all passes, without masks, with the first templates. Its scores are the means over
// the chains of FoldedScores. Model and sets must outlive the task. Throws Error where a set has no chain, and for
// templates that the model does not read.
HEADLIGHT_API TrainingTask FoldingTask(FoldingModel& model, const ChainSet& train, const ChainSet& valid,
                                       const FoldingTrainingOptions& options);

// Of one chain, from 0 to 1, against the atoms that are known.
struct FoldedScores {
  double lddt_ca = 0, tm_score = 0;         // of the C alphas
  std::optional<double> contact_precision;  // of long-range contacts (protein/contacts.h), by the logits of distances
  double loss = 0;
};

/// The loss and the scores of each chain of `valid`; their means are the task's validation. Throws Error if there is
/// no chain.
HEADLIGHT_API std::vector<FoldedScores> ScoreFolding(const FoldingModel& model, const ChainSet& valid,
                                                     const FoldingLossWeights& weights, const PassWatch& watch = {});

// Its means; of contact_precision over the chains that have one, 0 where none has.
HEADLIGHT_API ValidationReport MeanScores(std::span<const FoldedScores> chains);

}  // namespace headlight
