// A language model's next tokens: its logits, changed by the penalties of GenerationOptions, and the choice among them.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/generate/choose_words.h"
#include "headlight/generate/generate.h"
#include "headlight/kernels/top_k.h"

namespace headlight {

// The `count` likeliest tokens after each hidden state [rows, model], where row i belongs to texts[i], with their
// log-probabilities; with options.sample the sampled one. They become the texts' `length`-th; ends are excluded up to
// options.min_new_tokens. Excluded tokens have
// -infinity. `texts` may be empty without sampling and penalties. Throws Error where the model gives NaN.
kernels::TopLogits<float> NextWords(const LanguageModel& model, Context& context, const Tensor& hidden,
                                    std::span<const Unfinished> texts, const GenerationOptions& options,
                                    std::int32_t length, std::int64_t count);

}  // namespace headlight
