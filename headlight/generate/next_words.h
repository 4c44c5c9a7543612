// A language model's next tokens: its logits and the choice among them.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/generate/choose_words.h"
#include "headlight/kernels/top_k.h"
#include "headlight/nn/language_model.h"

namespace headlight {

// The `count` likeliest tokens after each hidden state [rows, model], where row i belongs to texts[i], with their
// log-probabilities; with rules.sample the sampled one. They become the texts' `length`-th. Excluded tokens have
// -infinity. Throws Error where the model gives NaN.
kernels::TopLogits<float> NextWords(const LanguageModel& model, Context& context, const Tensor& hidden,
                                    std::span<const Unfinished> texts, const ChoiceRules& rules, std::int32_t length,
                                    std::int64_t count);

}  // namespace headlight
