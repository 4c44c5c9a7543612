// An ESM-2 from scratch, of the published sizes.
#pragma once

#include <memory>
#include <string>

#include "headlight/models/esm.h"
#include "headlight/recipes/text_training.h"

namespace headlight {

/// Adds --preset, which excludes --from and --tokenizer.
void AddEsmPresets(OptionTable& table, std::string& preset);

/// The settings of a preset: how the model of that size was trained.
const OptionValues& EsmPreset(const std::string& preset);

std::unique_ptr<Esm> NewEsm(const TextTraining& options, const TrainingPlan& plan, const TextHeadsConfig& heads);

}  // namespace headlight
