// Training of structure prediction models.
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

inline constexpr double kClampedShare = 0.9;  // as in AlphaFold's training

struct FoldingTrainingOptions {
  BatchOptions batches;            // batch_size counts chains
  std::int64_t crop = 256;         // number of residues of a random contiguous crop of longer chains
  double clamped = kClampedShare;  // probability that a chain's backbone frame-aligned errors are clamped
  FoldingLossWeights weights = {};
};

/// Trains a structure prediction model. The loss is the mean over chains (protein/nn/folding_loss.h). In each epoch,
/// the following are sampled for each chain:
/// - the crop,
/// - the alignment's rows and masked letters for each pass,
/// - the number of templates, from 0 to the number available, limited to the model's maximum,
/// - whether the backbone's errors are clamped.
/// The number of passes is sampled for each batch, from 1 to the model's maximum (FoldingPlan). Alignments are read
/// when needed.
///
/// A validation predicts whole chains with all passes, without masks, and with the first templates. Its scores are the
/// means of FoldedScores over the chains. The model and the sets must outlive the task. Throws Error if a set has no
/// chain, or has templates that the model does not use.
HEADLIGHT_API TrainingTask FoldingTask(FoldingModel& model, const ChainSet& train, const ChainSet& valid,
                                       const FoldingTrainingOptions& options);

/// The scores of one predicted chain compared with its known atoms, from 0 to 1.
struct FoldedScores {
  double lddt_ca = 0, tm_score = 0;         // scores of C alpha atoms
  std::optional<double> contact_precision;  // precision of long-range contacts (protein/contacts.h) from the distogram
  double loss = 0;
};

/// Returns the loss and the scores of each chain of `valid`. The task's validation reports their means. Throws Error if
/// there is no chain.
HEADLIGHT_API std::vector<FoldedScores> ScoreFolding(const FoldingModel& model, const ChainSet& valid,
                                                     const FoldingLossWeights& weights, const PassWatch& watch = {});

/// Returns the mean scores. contact_precision is averaged over the chains that have it, and is 0 if no chain does.
HEADLIGHT_API ValidationReport MeanScores(std::span<const FoldedScores> chains);

}  // namespace headlight
