// Options for training an ESM-2 of a published size from scratch.
#pragma once

#include <memory>
#include <string>

#include "headlight/models/esm.h"
#include "headlight/recipes/text_training.h"

namespace headlight {

/// Adds --preset, which excludes --from and --tokenizer.
void AddEsmPresets(OptionTable& table, std::string& preset);

/// Returns the training settings of a preset.
const OptionValues& EsmPreset(const std::string& preset);

std::unique_ptr<Esm> NewEsm(const TextTraining& options, const TrainingPlan& plan, const TextHeadsConfig& heads);

}  // namespace headlight
