// The model of a running batch, with its cache: runs the passes.
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

// A language model or a decoder with cross-attention.
struct BatchModel {
  // One of the two models is null. As DecodingBatch's constructors.
  BatchModel(const LanguageModel* of_language, const ConditionalDecoder* of_decoder, kernels::CacheType cache_type,
             const Shortlist* shortlist);
  BatchModel(const BatchModel&) = delete;

  bool has_memories() const { return decoder_ != nullptr; }
  // True if the model has a copy of its weights for speculative decoding.
  bool has_draft() const;

  // Throws Error if the request is impossible.
  void CheckRequest(const DecodingRequest& request) const;

  // The states of a missing source for guidance, [1, width]. Those of a width share their data.
  Tensor NoSource(std::int64_t width);

  // The hidden states after the pass's tokens, [tokens, model]. Records the attention of texts that ask for it.
  Tensor Read(const Pass& pass);

  // Drafts of a text's next tokens, and the model's own choices.
  struct Drafts {
    std::vector<std::int32_t> ids;        // the newest token, then its drafts
    kernels::TopLogits<float> likeliest;  // after each of the ids
    std::vector<AttentionRow> attention;  // of each of the ids, if requested
    std::int32_t cached = 0;              // tokens in the cache before the ids, which it now has too
  };
  // Drafts the tokens after the newest of a running text: at most `most`, and none after an end.
  Drafts Draft(const Search& search, std::int32_t most);

  NextTokens tokens;
  Context context;
  DecoderCache cache;
  std::int64_t positions = 0;                                          // of what the decoder reads
  bool whole_prompts = false;                                          // an encoder reads them
  std::int32_t alone_from = std::numeric_limits<std::int32_t>::max();  // tokens from this position are read one by one

 private:
  Tensor Decode(std::span<const std::int32_t> ids, const Sequences& texts);
  // Records the attention of each text of the next passes without a draft.
  void RecordAttention(std::size_t texts, bool wanted);

  const LanguageModel* language_;
  const ConditionalDecoder* decoder_;
  std::int64_t vocabulary_ = 0;
  std::map<std::int64_t, Tensor> no_source_;          // of each width
  std::vector<std::vector<AttentionRow>> attention_;  // of the last pass, of each of its texts
};

}  // namespace headlight
