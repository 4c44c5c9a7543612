// Trains a language model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/recipes/text_training.h"

namespace headlight {

struct LanguageModelTraining : TextTraining {
  std::string family = "gpt2";            ///< for a model from scratch: gpt2, llama and others
  std::optional<std::int32_t> key_heads;  ///< number of key-value heads, for a model from scratch [`heads`]
  std::optional<std::int32_t> experts, experts_per_token;  ///< for a mixture of experts from scratch [8, 2]
  TeacherForcingOptions teacher_forcing{.batches = {}, .label_smoothing = 0};  ///< `batches` is not used
};

HEADLIGHT_API void Describe(OptionTable& table, LanguageModelTraining& options);

/// Trains on texts and saves a model folder. Texts that are too long for the model are split. Throws Error if a file or
/// an option is wrong.
HEADLIGHT_API TrainingResult TrainLanguageModel(LanguageModelTraining options, const TrainingObserver& observer);

}  // namespace headlight
