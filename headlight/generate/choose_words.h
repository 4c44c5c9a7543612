// The choice of each text's next token under penalties or by sampling, from the model's logits.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"
#include "headlight/base/random.h"
#include "headlight/kernels/top_k.h"
#include "headlight/nn/model.h"

namespace headlight {

// The fields of the same names of GenerationOptions (generate.h), which explains them, and of DecodingOptions.
struct ChoiceRules {
  bool beams = false;
  bool sample = false;
  double temperature = 1;
  std::int32_t top_k = 0;
  double top_p = 1;
  double repetition_penalty = 1;
  std::int32_t no_repeat_ngram_size = 0;
};

template <typename Options>
ChoiceRules RulesOf(const Options& options) {
  return {options.beam_size > 1,
          options.sample,
          options.temperature,
          options.top_k,
          options.top_p,
          options.repetition_penalty,
          options.no_repeat_ngram_size};
}

// Throws Error naming the first that is out of range.
void CheckRules(const ChoiceRules& rules);

// A text to be extended.
struct Unfinished {
  std::span<const std::int32_t> prompt, ids;
  std::span<const std::int32_t> never;  // tokens that must not be next
  Random* random = nullptr;             // for sampling
};

// The `count` likeliest tokens after each row of logits [texts, vocab], which it changes, with their log-probabilities;
// with rules.sample the sampled one. Excluded tokens have -infinity. Without beams the log-probabilities are the
// model's own, before the penalty. Throws Error where the model gives NaN in this, the `length`-th, step.
kernels::TopLogits<float> ChooseWords(const Model& model, const Matrix<float>& logits,
                                      std::span<const Unfinished> texts, const ChoiceRules& rules, std::int32_t length,
                                      std::int64_t count);

// Rows of logits that are computed at once: they take 16 MB.
std::int64_t LogitRowsAtOnce(std::int64_t vocabulary);

// Throws Error where a row's sum of exponentials is none.
void CheckSums(const Model& model, const kernels::TopLogits<float>& top, std::int32_t length);

}  // namespace headlight
