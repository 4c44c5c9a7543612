// Decodes target sentences from source sentences, by greedy search or beam search with a cache.
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
  SearchOptions search = {.beam_size = 4};  ///< if end_ids is empty, the model's end token ends a sentence
  /// The maximum number of tokens of a target sentence, including its end. If 0, it is three times the source's length
  /// plus 50, which limits a model that repeats itself. The model's positions are always a limit.
  std::int32_t max_length = 0;
  std::int32_t min_length = 0;  ///< minimum number of tokens of a sentence, including its prefix
  /// The maximum and minimum number of generated tokens, without given tokens. A positive max_new_tokens replaces
  /// max_length.
  std::int32_t max_new_tokens = 0;
  std::int32_t min_new_tokens = 0;
  /// The decoder's first inputs. If empty, the first input is the model's start token. All inputs except the first are
  /// part of every target sentence, but not of its score. search.first_token, for example a language token, is not
  /// forced after a prefix of several tokens. If there is a Source::target_prefix, search.first_token precedes it as a
  /// given token.
  std::vector<std::int32_t> prefix = {};
  std::uint64_t seed = 0;  ///< random seed, combined with Source::stream
  /// The settings of each source, by index. If empty, there are no prefixes, and each source's index is its stream.
  struct Source {
    std::vector<std::int32_t> target_prefix = {};  ///< the translation's first tokens, after `prefix` and first_token
    std::uint64_t stream = 0;                      ///< stream of the random number generator
  };
  std::vector<Source> sources = {};
  const Shortlist* shortlist = nullptr;  ///< limits each sentence's vocabulary; if null, all tokens are possible
  /// Called between steps, by any thread but never concurrently. If it returns true, Decode throws Cancelled.
  std::function<bool()> cancelled = {};
};

/// Returns the n_best hypotheses of each source sentence, best first. Source sentences are packed ids with their end
/// token.
/// - Beams, scores and stopping follow beam search in Hugging Face Transformers. Padding and tokens that would
///   repeat an n-gram are excluded without renormalizing the other probabilities.
/// - A sentence that reaches max_length without an end token is truncated (Hypothesis::ended).
/// - The hypotheses of a sentence do not depend on its batch.
/// - A model with a draft (LoadFor::computing_with_draft) uses speculative decoding for a single sentence with greedy
///   search and no logits processors. The result has the same bits as without drafts.
///
/// `which` has the index of each sentence in options.sources. By default, it is the index in this call. Throws Error if
/// a sentence is empty or does not fit into the model's positions, if a prefix leaves no space for new tokens, and for
/// invalid options.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model,
                                                          std::span<const std::int32_t> source_ids,
                                                          const Sequences& sources, const DecodingOptions& options,
                                                          std::span<const std::size_t> which = {});
/// Decodes from encoded sources. The memory has one entry per source, in any order.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Decode(const ConditionalDecoder& model, const Memory& memory,
                                                          const DecodingOptions& options,
                                                          std::span<const std::size_t> which = {});

/// Returns the requests that Decode makes for sources (ids with their end token). DecodingRequest::memory is empty. The
/// caller must set it to the encoder's output for DecodingRequest::source. Throws the same errors as Decode.
HEADLIGHT_API std::vector<DecodingRequest> RequestsFor(const EncoderDecoder& model,
                                                       std::vector<std::vector<std::int32_t>> sources,
                                                       const DecodingOptions& options);
/// Prepends the target tokens of the prompt to the ids of each hypothesis. The hypotheses must be a batch's result for
/// this prompt.
HEADLIGHT_API void AddGiven(std::vector<Hypothesis>& hypotheses, std::span<const std::int32_t> prompt);

}  // namespace headlight
