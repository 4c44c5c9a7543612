// The model of a running batch with its cache; runs the forward passes.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "headlight/generate/decoding_request.h"
#include "headlight/generate/next_tokens.h"
#include "headlight/generate/search.h"
#include "headlight/kernels/cache_entries.h"
#include "headlight/kernels/top_k.h"
#include "headlight/kinds/conditional_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/decoder_cache.h"

namespace headlight {

/// A language model or a decoder with cross-attention.
struct BatchModel {
  /// One of the two models is null. The parameters are those of DecodingBatch's constructors.
  BatchModel(const LanguageModel* of_language, const ConditionalDecoder* of_decoder, kernels::CacheType cache_type,
             const Shortlist* shortlist);
  BatchModel(const BatchModel&) = delete;

  bool has_memories() const { return decoder_ != nullptr; }
  /// True if the model has an int8 copy of its weights for speculative decoding.
  bool has_draft() const;

  /// Throws Error if the request is impossible.
  void CheckRequest(const DecodingRequest& request) const;

  /// The encoder states of the unconditional prompt in guidance, [1, width] of zeros. Calls with the same width share
  /// storage.
  Tensor NoSource(std::int64_t width);

  /// The hidden states of the pass's tokens, [tokens, model]. Records the attention of texts that request it.
  Tensor Read(const Pass& pass);

  /// Draft tokens of a text, and the tokens that the model itself would choose.
  struct Drafts {
    std::vector<std::int32_t> ids;        ///< the newest token, then the drafts
    kernels::TopLogits<float> likeliest;  ///< after each of the ids
    std::vector<AttentionRow> attention;  ///< for each of the ids, if requested
    std::int32_t cached = 0;              ///< tokens in the cache before the ids, which are now cached too
  };
  /// Drafts at most `most` tokens after the newest token of a running text; stops at an end token.
  Drafts Draft(const Search& search, std::int32_t most);

  NextTokens tokens;
  Context context;
  DecoderCache cache;
  std::int64_t positions = 0;  ///< largest number of decoder inputs
  bool whole_prompts = false;  ///< an encoder reads prompts, so that they are not split
  std::int32_t alone_from =
      std::numeric_limits<std::int32_t>::max();  ///< from this position on, tokens are read one by one

 private:
  Tensor Decode(std::span<const std::int32_t> ids, const Sequences& texts);
  // Records the attention of each text in the next passes, without draft tokens.
  void RecordAttention(std::size_t texts, bool wanted);

  const LanguageModel* language_;
  const ConditionalDecoder* decoder_;
  std::int64_t vocabulary_ = 0;
  std::map<std::int64_t, Tensor> no_source_;          // by width
  std::vector<std::vector<AttentionRow>> attention_;  // of the last pass, for each of its texts
};

}  // namespace headlight
