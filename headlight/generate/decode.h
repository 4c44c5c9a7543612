// Decoding of target sentences from a source sentence, by greedy search or beam search with a cache.
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
  SearchOptions search = {.beam_size = 4};  ///< without end_ids, the model's end token ends a sentence
  /// Tokens of a target sentence, including its end, at most. 0: three times the source's plus 50, to bound a model
  /// that repeats itself. At most the model's positions.
  std::int32_t max_length = 0;
  std::int32_t min_length = 0;  ///< tokens of a sentence, at least; those of a prefix count
  /// The same without the given tokens; if positive, instead of max_length.
  std::int32_t max_new_tokens = 0;
  std::int32_t min_new_tokens = 0;
  /// The decoder's first inputs; if empty, the model's start token. All but the first are part of every target
  /// sentence, but not of its score. search.first_token, such as a language, is not forced after a prefix of several
  /// tokens. Before a Source::target_prefix it is a given token.
  std::vector<std::int32_t> prefix = {};
  std::uint64_t seed = 0;  ///< combined with Source::stream
  /// Settings of each source, by index. If empty, there are no prefixes, and the index is the stream.
  struct Source {
    std::vector<std::int32_t> target_prefix = {};  ///< the translation's first tokens, after `prefix` and first_token
    std::uint64_t stream = 0;                      ///< of random numbers
  };
  std::vector<Source> sources = {};
  const Shortlist* shortlist = nullptr;  ///< limits each sentence's vocabulary; null: the whole vocabulary
  /// Called between steps, by any thread, one at a time; if it returns true, Decode throws Cancelled.
  std::function<bool()> cancelled = {};
};

/// The n_best hypotheses of each source sentence (ids with their end token, packed), the best first.
/// - Beams, scores and stopping follow beam search in Hugging Face Transformers. As there, padding and tokens
///   that would repeat an n-gram are excluded without renormalizing the other probabilities.
/// - A sentence that reaches max_length without an end token is truncated (Hypothesis::ended).
/// - The hypotheses of a sentence do not depend on its batch.
/// - A model with a draft (LoadFor::computing_with_draft) uses speculative decoding for a single sentence with greedy
///   search and no logits processors. The result is bit-identical.
///
/// `which` has the index in options.sources of each sentence; by default its index in this call. Throws Error if a
/// sentence is empty or longer than the model's positions, if a prefix leaves no space for new tokens, and for
/// impossible options.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model,
                                                          std::span<const std::int32_t> source_ids,
                                                          const Sequences& sources, const DecodingOptions& options,
                                                          std::span<const std::size_t> which = {});
/// The same from encoded sources: one entry of the memory per source, in any order.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Decode(const ConditionalDecoder& model, const Memory& memory,
                                                          const DecodingOptions& options,
                                                          std::span<const std::size_t> which = {});

/// The requests that Decode makes for sources (ids with their end token), without DecodingRequest::memory, which is the
/// encoder's output for DecodingRequest::source. Throws Error as Decode does.
HEADLIGHT_API std::vector<DecodingRequest> RequestsFor(const EncoderDecoder& model,
                                                       std::vector<std::vector<std::int32_t>> sources,
                                                       const DecodingOptions& options);
/// Completes a batch's results for a request with this prompt: puts the prompt's target tokens before the ids.
HEADLIGHT_API void AddGiven(std::vector<Hypothesis>& hypotheses, std::span<const std::int32_t> prompt);

}  // namespace headlight
