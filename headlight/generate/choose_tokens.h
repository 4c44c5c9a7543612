// Chooses each text's next token from the model's logits, with logits processors or sampling.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/generate/search_options.h"
#include "headlight/kernels/top_k.h"
#include "headlight/kinds/model.h"

namespace headlight {

/// Returns true if the token with the largest logit is always chosen.
inline bool ChoosesLikeliest(const SearchOptions& options) { return !options.sample && !options.processors.any(); }

/// Returns the `count` most probable tokens and their log-probabilities for each row of logits [texts, vocab]. If
/// options.sample is set, returns the sampled token instead. Modifies `logits`. The log-probability of an excluded
/// token is -infinity. Log-probabilities are computed from the unprocessed logits or, with beams, from the processed
/// logits. Throws Error if the model computes NaN in step `length`.
kernels::TopLogits<float> ChooseTokens(const Model& model, const Matrix<float>& logits,
                                       std::span<const Unfinished> texts, const SearchOptions& options,
                                       std::int32_t length, std::int64_t count);

/// Returns the number of rows of logits to compute at once. The rows occupy about 16 MB.
std::int64_t LogitRowsAtOnce(std::int64_t vocabulary);

/// Throws Error if a row's sum of exponentials is not finite and positive.
void CheckSums(const Model& model, const kernels::TopLogits<float>& top, std::int32_t length);

}  // namespace headlight
