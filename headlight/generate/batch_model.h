// Runs the forward passes of a running batch. Holds the model and the cache.
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
  /// Exactly one of the two models must be null. DecodingBatch's constructors document the parameters.
  BatchModel(const LanguageModel* of_language, const ConditionalDecoder* of_decoder, kernels::CacheType cache_type,
             const Shortlist* shortlist);
  BatchModel(const BatchModel&) = delete;

  bool has_memories() const { return decoder_ != nullptr; }
  /// Returns true if the model has an int8 copy of its weights for speculative decoding.
  bool has_draft() const;

  /// Throws Error if the request is invalid for this model.
  void CheckRequest(const DecodingRequest& request) const;

  /// Returns the encoder states for the unconditional prompt of guidance, [1, width], which are all zeros. Calls with
  /// the same width share storage.
  Tensor NoSource(std::int64_t width);

  /// Returns the hidden states of the pass's tokens, [tokens, model]. Records the attention of texts that request it.
  Tensor Read(const Pass& pass);

  /// The draft tokens of a text, and the tokens that the model chooses without drafts.
  struct Drafts {
    std::vector<std::int32_t> ids;        ///< the newest token, followed by the drafts
    kernels::TopLogits<float> likeliest;  ///< the model's most probable tokens after each of the ids
    std::vector<AttentionRow> attention;  ///< attention weights of each of the ids, if requested
    std::int32_t cached = 0;              ///< number of cached tokens before the ids, which are now also cached
  };
  /// Generates at most `most` draft tokens after the newest token of a running text. Stops at an end token.
  Drafts Draft(const Search& search, std::int32_t most);

  NextTokens tokens;
  Context context;
  DecoderCache cache;
  std::int64_t positions = 0;  ///< maximum number of decoder inputs
  bool whole_prompts = false;  ///< if true, prompts must not be split, because an encoder encodes them
  std::int32_t alone_from =
      std::numeric_limits<std::int32_t>::max();  ///< from this position on, tokens are processed one by one

 private:
  Tensor Decode(std::span<const std::int32_t> ids, const Sequences& texts);
  // Enables or disables recording of each text's attention in the next passes. The passes that generate drafts are not
  // recorded.
  void RecordAttention(std::size_t texts, bool wanted);

  const LanguageModel* language_;
  const ConditionalDecoder* decoder_;
  std::int64_t vocabulary_ = 0;
  std::map<std::int64_t, Tensor> no_source_;          // states by width
  std::vector<std::vector<AttentionRow>> attention_;  // attention of each text in the last pass
};

}  // namespace headlight
