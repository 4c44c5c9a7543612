// The choice of each text's next token under logits processors or by sampling, from the model's logits.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/generate/search_options.h"
#include "headlight/kernels/top_k.h"
#include "headlight/kinds/model.h"

namespace headlight {

// True if the likeliest token by the model's own logits is chosen.
inline bool ChoosesLikeliest(const SearchOptions& options) { return !options.sample && !options.processors.any(); }

// The `count` likeliest tokens after each row of logits [texts, vocab], which it changes, with their log-probabilities;
// with rules.sample the sampled one. Excluded tokens have -infinity. Without beams the log-probabilities are the
// model's own, before the processors; with beams they are what the processors make of them. Throws Error where the
// model gives NaN in this, the `length`-th, step.
kernels::TopLogits<float> ChooseTokens(const Model& model, const Matrix<float>& logits,
                                       std::span<const Unfinished> texts, const SearchOptions& options,
                                       std::int32_t length, std::int64_t count);

// Rows of logits that are computed at once: they take 16 MB.
std::int64_t LogitRowsAtOnce(std::int64_t vocabulary);

// Throws Error where a row's sum of exponentials is none.
void CheckSums(const Model& model, const kernels::TopLogits<float>& top, std::int32_t length);

}  // namespace headlight
