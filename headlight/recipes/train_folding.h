// Trains a protein structure prediction model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/recipes/model_training.h"
#include "headlight/train/objectives/folding.h"

namespace headlight {

struct FoldingTraining : ModelTraining {
  std::string preset;  ///< tiny, or alphafold for the published sizes
  /// Options of a model from scratch.
  std::optional<std::int32_t> extra_layers, structure_layers;  ///< [1, 8]
  std::optional<std::int64_t> pair_dim, single_dim, rows;      ///< [64, 128, 128]
  std::int64_t extra_rows = 1024, max_templates = 0;
  std::int32_t recycles = 3;
  bool without_triangles = false, covariation = false;

  std::int64_t crop = 256;         ///< the maximum number of residues of a training crop
  double clip_example_norm = 0.1;  ///< clips each chain's gradient to this norm; 0: no clipping
  double clamped = kClampedShare, smooth_lddt = 0;
  bool fine_tuning = false;  ///< if true, adds the losses of AlphaFold's fine-tuning stage
};

HEADLIGHT_API void Describe(OptionTable& table, FoldingTraining& options);

/// Trains an AlphaFold 2 (Jumper et al., 2021) on known structures, and saves a model folder. Throws Error if a file or
/// an option is wrong.
HEADLIGHT_API TrainingResult TrainFolding(FoldingTraining options, const TrainingObserver& observer);

}  // namespace headlight
