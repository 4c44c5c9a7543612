// Decoding: from a source sentence to the likeliest target sentences, by greedy choice or beam search over a cache.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/generate/shortlist.h"
#include "headlight/nn/encoder_decoder.h"

namespace headlight {

struct DecodingOptions {
  std::int32_t beam_size = 4;  // 1: greedy
  double length_penalty = 1;   // alpha: a finished sentence scores log-probability / length^alpha
  std::int32_t n_best = 1;     // at most beam_size
  // Tokens of a target sentence, its end included; 0: three times the source's and 50 more, so that a model that goes
  // round in circles ends soon; never more than the model has positions.
  std::int32_t max_length = 0;
  std::int32_t min_length = 0;  // the end is no candidate before so many tokens
  Stopping stopping = Stopping::no_better;
  // The decoder's first inputs; unless given, the model's start alone. What follows the first of them is part of every
  // target sentence, but not of its score.
  std::vector<std::int32_t> prefix = {};
  // What every target sentence begins with, as if it were certain: a language's token. Not after a prefix of several.
  std::optional<std::int32_t> first_token = {};
  std::int32_t no_repeat_ngram_size = 0;  // where positive, no run of so many tokens, the start among them, comes twice
  const Shortlist* shortlist = nullptr;   // what each sentence is chosen from, and its end; null: the whole vocabulary
  bool attention = false;                 // whether to keep Hypothesis::attention
  // Asked between steps, by any thread, one at a time; where it says yes, Decode throws Cancelled.
  std::function<bool()> cancelled = {};
};

// For each source sentence (ids with their end, packed) its n_best hypotheses, best first. Beams, scores and the moment
// to stop follow Hugging Face Transformers' beam search. As there, no word is padding, but its share of the
// probability, like that of words that would repeat an n-gram, is not given to the others. One thing departs from what
// published models ask of it (forced_eos_token_id): the last word that max_length allows is not made the end, whatever
// it costs; the sentence is cut and says so. A sentence's hypotheses do not depend on what it is batched with. Where a
// model was loaded with a draft (LoadFor::computing_with_draft), it drafts the words of a sentence that is written
// alone and greedily, and may repeat itself; no bit of the result differs, and it comes sooner where reading the
// weights is what takes the time. Throws Error where a sentence is empty or longer than the model's positions and for
// impossible options.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model,
                                                          std::span<const std::int32_t> source_ids,
                                                          const Sequences& sources, const DecodingOptions& options);

}  // namespace headlight
