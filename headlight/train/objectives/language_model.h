// Language modeling: the model predicts the next token at each position (Radford et al., "Improving Language
// Understanding by Generative Pre-Training", 2018, eq. 1).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/kinds/language_model.h"
#include "headlight/train/objectives/teacher_forcing.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

/// Trains a language model. If the model has an end token, each text starts and ends with it. Validations have no
/// score, and their perplexity is per token. If `valid_bytes`, the size of the validation texts, is positive, they also
/// report bits_per_byte. Throws Error for a text that does not fit into the model's positions. In training only,
/// router_loss_factor times ops::LoadBalancingLoss of each micro-batch is added to the mean loss of the labels.
HEADLIGHT_API TrainingTask LanguageModelTask(LanguageModel& model, const TextSets& texts, std::int64_t valid_bytes,
                                             const TeacherForcingOptions& options);

}  // namespace headlight
