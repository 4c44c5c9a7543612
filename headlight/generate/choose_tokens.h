// Chooses each text's next token from the model's logits, with logits processors or sampling.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/generate/search_options.h"
#include "headlight/kernels/top_k.h"
#include "headlight/kinds/model.h"

namespace headlight {

/// True if the token with the largest logit of the model is chosen.
inline bool ChoosesLikeliest(const SearchOptions& options) { return !options.sample && !options.processors.any(); }

/// The `count` most probable tokens after each row of logits [texts, vocab], with their log-probabilities, or with
/// rules.sample the sampled token. Changes `logits`. Excluded tokens have -infinity. Without beams the
/// log-probabilities are those of the model's own logits; with beams, of the processed ones. Throws Error if the model
/// gives NaN in this, the `length`-th, step.
kernels::TopLogits<float> ChooseTokens(const Model& model, const Matrix<float>& logits,
                                       std::span<const Unfinished> texts, const SearchOptions& options,
                                       std::int32_t length, std::int64_t count);

/// The number of rows of logits that are computed at once, which take 16 MB.
std::int64_t LogitRowsAtOnce(std::int64_t vocabulary);

/// Throws Error if a row's sum of exponentials is not finite and positive.
void CheckSums(const Model& model, const kernels::TopLogits<float>& top, std::int32_t length);

}  // namespace headlight
