// Decoding: from a source sentence to the likeliest target sentences, by greedy choice or beam search over a cache.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/decoding_batch.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/generate/search_options.h"
#include "headlight/generate/shortlist.h"
#include "headlight/kinds/encoder_decoder.h"

namespace headlight {

struct DecodingOptions {
  SearchOptions search = {.beam_size = 4};  // without end_ids, the model's end token ends a sentence
  // Tokens of a target sentence, its end included; 0: three times the source's and 50 more, to bound a model that
  // repeats itself. At most the model's positions.
  std::int32_t max_length = 0;
  std::int32_t min_length = 0;  // tokens before which the end is not a candidate; those of a prefix count
  // The same without the tokens that are given; if positive, instead of max_length.
  std::int32_t max_new_tokens = 0;
  std::int32_t min_new_tokens = 0;
  // The decoder's first inputs; if empty, the model's start token. Those after the first are part of every target
  // sentence, but not of its score. search.first_token, a language's, is not for a prefix of several; before a
  // Source::target_prefix it is part of that.
  std::vector<std::int32_t> prefix = {};
  std::uint64_t seed = 0;  // with Source::stream
  // Settings of each source, by index; empty: no prefixes, and the index is the stream.
  struct Source {
    std::vector<std::int32_t> target_prefix = {};  // the translation's first tokens, after `prefix` and first_token
    std::uint64_t stream = 0;                      // of random numbers
  };
  std::vector<Source> sources = {};
  const Shortlist* shortlist = nullptr;  // limits each sentence's vocabulary; null: the whole vocabulary
  // Called between steps, by any thread, one at a time; where it returns true, Decode throws Cancelled.
  std::function<bool()> cancelled = {};
};

// For each source sentence (ids with their end, packed) its n_best hypotheses, best first. Beams, scores and the moment
// to stop follow Hugging Face Transformers' beam search. As there, padding and tokens that would repeat an n-gram are
// excluded without renormalising the other probabilities. A sentence that reaches max_length without an end is cut
// (Hypothesis::ended). A sentence's hypotheses do not depend on its batch. A model with a draft
// (LoadFor::computing_with_draft) uses speculative decoding for a single sentence with greedy choice and without
// logits processors; the result has the same bits. `which` has the index in options.sources of each sentence; unless
// given, that is its place here. Throws Error where a sentence is empty or longer than the model's positions, where a
// prefix leaves no room, and for impossible options.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model,
                                                          std::span<const std::int32_t> source_ids,
                                                          const Sequences& sources, const DecodingOptions& options,
                                                          std::span<const std::size_t> which = {});
// The same from what an encoder has made of the sources, one entry of the memory each, in any order.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Decode(const ConditionalDecoder& model, const Memory& memory,
                                                          const DecodingOptions& options,
                                                          std::span<const std::size_t> which = {});

/// The requests that Decode makes of sources (ids with their end), all but the memory: what the encoder makes of
/// DecodingRequest::source. Throws Error as Decode does.
HEADLIGHT_API std::vector<DecodingRequest> RequestsFor(const EncoderDecoder& model,
                                                       std::vector<std::vector<std::int32_t>> sources,
                                                       const DecodingOptions& options);
/// Completes what a batch gives for a request with this prompt: tokens of the target that it has are put before it.
HEADLIGHT_API void AddGiven(std::vector<Hypothesis>& hypotheses, std::span<const std::int32_t> prompt);

}  // namespace headlight
