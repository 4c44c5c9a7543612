// Training a language model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/recipes/text_training.h"

namespace headlight {

struct LanguageModelTraining : TextTraining {
  std::string family = "gpt2";            ///< of a model from scratch: gpt2 or llama
  std::optional<std::int32_t> key_heads;  ///< of keys and values, of a model from scratch [as many as `heads`]
  std::optional<std::int32_t> experts, experts_per_token;  ///< of a mixture of experts from scratch [8, 2]
  TeacherForcingOptions teacher_forcing{.batches = {}, .label_smoothing = 0};  ///< without its batches
};

HEADLIGHT_API void Describe(OptionTable& table, LanguageModelTraining& options);

/// Trains on texts, each of which is longer than the model reads is cut into pieces, and saves a model folder. Throws
/// Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainLanguageModel(LanguageModelTraining options, const TrainingObserver& observer);

}  // namespace headlight
