// Training of models of protein structures.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/protein_chains.h"
#include "headlight/nn/folding_loss.h"
#include "headlight/nn/folding_model.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct FoldingTrainingOptions {
  BatchOptions batches;     // tokens are chains
  std::int64_t crop = 256;  // residues: of a longer chain so many in a row are drawn
  FoldingLossWeights weights = {};
};

// The loss is the mean of the chains' (nn/folding_loss.h). Drawn anew in each epoch: the crop, the alignment's rows and
// masked letters for each pass, of n templates from none to n but at most as many as the model reads, whether the
// backbone's errors are clamped (nine times of ten), and, for all chains of a batch, how many passes there are, from 1
// to the model's (FoldingPlan). Alignments are read when they are needed.
//
// A validation folds whole chains in all passes, without masks, with the first templates. Its scores are the means over
// the chains of lddt_ca, the lDDT of the C alpha atoms, and tm_score, each from 0 to 1, against the atoms that are
// known. Model and sets must outlive the task. Throws Error where a set has no chain, and for templates that the model
// does not read.
HEADLIGHT_API TrainingTask FoldingTask(FoldingModel& model, const ChainSet& train, const ChainSet& valid,
                                       const FoldingTrainingOptions& options);

// That validation.
HEADLIGHT_API ValidationReport ValidateFolding(const FoldingModel& model, const ChainSet& valid,
                                               const FoldingLossWeights& weights, const PassWatch& watch = {});

}  // namespace headlight
