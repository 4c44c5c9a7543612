// Language models: the next token at each place (Radford et al., "Improving Language Understanding by Generative
// Pre-Training", 2018, eq. 1).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/kinds/language_model.h"
#include "headlight/train/objectives/teacher_forcing.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

// Each text begins after the end token and ends with it, where the model has one. A report has no score; its perplexity
// is per token. Where `valid_bytes`, those of the texts that are validated on, are positive, it has bits_per_byte.
// Throws Error for a text that is longer than the model. Training adds router_loss_factor times ops::LoadBalancingLoss
// of each micro-batch, in the mean over the labels; validation does not.
HEADLIGHT_API TrainingTask LanguageModelTask(LanguageModel& model, const TextSets& texts, std::int64_t valid_bytes,
                                             const TeacherForcingOptions& options);

}  // namespace headlight
