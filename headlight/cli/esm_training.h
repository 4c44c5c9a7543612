// An ESM-2 from scratch: the published sizes, and ESM's tokenizer, which is built in.
#pragma once

#include <memory>
#include <string>

#include "headlight/base/option_table.h"
#include "headlight/cli/text_training.h"
#include "headlight/models/esm.h"

namespace headlight {

// Adds --preset, which excludes --from and --tokenizer.
void AddEsmPresets(OptionTable& command, std::string& preset);

// Completes the options by those of the preset where the user gives none.
void BeginEsmTraining(TextTrainingOptions& options, const std::string& preset);

std::unique_ptr<Esm> NewEsm(const TextTrainingOptions& options, const TextHeadsConfig& heads);

}  // namespace headlight
