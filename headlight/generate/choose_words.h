// The choice of each text's next token under logits processors or by sampling, from the model's logits.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/generate/logits_processors.h"
#include "headlight/kernels/top_k.h"
#include "headlight/nn/model.h"

namespace headlight {

// How GenerationOptions (generate.h) or DecodingOptions choose a token.
struct ChoiceRules {
  bool beams = false;
  bool sample = false;
  const SamplingOptions& sampling;
  const LogitsProcessors& processors;

  // True where the likeliest token by the model's own logits is chosen.
  bool plain() const { return !sample && !processors.any(); }
};

template <typename Options>
ChoiceRules RulesOf(const Options& options) {
  return {options.beam_size > 1, options.sample, options.sampling, options.processors};
}

// Throws Error naming the first option that is out of range.
void CheckRules(const ChoiceRules& rules, std::int64_t vocabulary);

// The `count` likeliest tokens after each row of logits [texts, vocab], which it changes, with their log-probabilities;
// with rules.sample the sampled one. Excluded tokens have -infinity. Without beams the log-probabilities are the
// model's own, before the processors; with beams they are what the processors make of them. Throws Error where the
// model gives NaN in this, the `length`-th, step.
kernels::TopLogits<float> ChooseWords(const Model& model, const Matrix<float>& logits,
                                      std::span<const Unfinished> texts, const ChoiceRules& rules, std::int32_t length,
                                      std::int64_t count);

// Rows of logits that are computed at once: they take 16 MB.
std::int64_t LogitRowsAtOnce(std::int64_t vocabulary);

// Throws Error where a row's sum of exponentials is none.
void CheckSums(const Model& model, const kernels::TopLogits<float>& top, std::int32_t length);

}  // namespace headlight
