// What a language model may say next: its scores, changed by the rules of GenerationOptions, and what is chosen of
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/generate/generate.h"
#include "headlight/kernels/top_k.h"

namespace headlight {

// A text that wants its next word.
struct Unfinished {
  std::span<const std::int32_t> prompt, ids;
  Random* random = nullptr;  // where words are drawn
};

// The `count` likeliest words after each hidden state [rows, model], where row i belongs to texts[i], with their
// log-probabilities; where options.sample, the one that is drawn. They are to be the texts' `length`-th, and the ends
// are not among them up to options.min_new_tokens. What may not be written has -infinity. `texts` may be empty without
// sampling and penalties. Throws Error where the model gives NaN.
kernels::TopLogits<float> NextWords(const LanguageModel& model, Context& context, const Tensor& hidden,
                                    std::span<const Unfinished> texts, const GenerationOptions& options,
                                    std::int32_t length, std::int64_t count);

// So many rows of logits are made at once that they take 16 MB.
std::int64_t LogitRowsAtOnce(const LanguageModel& model);

}  // namespace headlight
