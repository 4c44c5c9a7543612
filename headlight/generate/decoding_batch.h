// Continuous batching: texts join and leave a running batch between forward passes (Yu et al., "Orca: A Distributed
// Serving System for Transformer-Based Generative Models", 2022). The same search implements greedy search, sampling,
// beam search, guidance and speculative decoding, for language models and for decoders with cross-attention.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/decoding_request.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/generate/shortlist.h"
#include "headlight/kernels/cache_entries.h"
#include "headlight/kinds/conditional_decoder.h"
#include "headlight/kinds/language_model.h"

namespace headlight {

/// The result of a text that has left the batch.
struct Decoded {
  std::int64_t id = 0;
  std::vector<Hypothesis> hypotheses;  ///< n_best hypotheses, best first; the ids exclude given tokens
  std::exception_ptr error = nullptr;  ///< if set, the reason why there are no hypotheses; other texts continue
};

struct DecodingBatchOptions {
  std::int64_t pass_tokens = 512;  ///< maximum number of prompt tokens per pass; longer prompts are split
  /// The maximum number of tokens in the cache; 0: no limit. If it is exceeded, the text that joined last is evicted
  /// and processed again later. A single text may exceed the limit.
  std::int64_t cached_tokens = 0;
  /// The type of cached keys and values. bfloat16 needs half the memory of float32, and int8 about a quarter.
  kernels::CacheType cache_type = kernels::CacheType::unrounded;
};

/// A running batch. The result of a text is bit-identical in every batch, even in a batch of one text. The result does
/// not depend on shared prefixes, on chunks, or on evictions from the cache.
///
/// A batch is not thread-safe. Callbacks run in the thread that calls Step. In a callback, Add, Step and Remove throw
/// Error.
class HEADLIGHT_API DecodingBatch {
 public:
  /// The model must outlive the batch. Throws Error if the model has no head that predicts the next token.
  explicit DecodingBatch(const LanguageModel& model, const DecodingBatchOptions& options = {});
  /// `shortlist`, which must outlive the batch, limits each text's vocabulary. If null, all tokens are possible.
  explicit DecodingBatch(const ConditionalDecoder& model, const DecodingBatchOptions& options = {},
                         const Shortlist* shortlist = nullptr);
  ~DecodingBatch();

  /// Adds a text, which joins the next pass. Returns its id. If the request is invalid, throws Error and leaves the
  /// batch unchanged.
  std::int64_t Add(DecodingRequest request);

  /// Runs one forward pass and returns the texts that have ended. The pass extends every running text by one token. If
  /// the batch has a single text and the model has a draft, accepted drafts also extend the text. If a text is not
  /// running yet, the pass processes a chunk of its prompt. After an exception, such as std::bad_alloc, the batch can
  /// only be destroyed.
  std::vector<Decoded> Step();

  /// Removes a text at any time. Returns false if there is no text with this id.
  bool Remove(std::int64_t id);

  bool empty() const;
  std::size_t size() const;            ///< number of texts that have not ended
  std::int64_t tokens() const;         ///< number of chosen tokens; with beams, only the tokens of one beam
  std::int64_t cached_tokens() const;  ///< current number of tokens in the cache
  std::int64_t token_bytes() const;    ///< bytes of one token in the cache; 0 before the first pass
  std::int64_t cache_bytes() const;    ///< size of the cache in bytes; the cache never shrinks
  std::int64_t evictions() const;      ///< number of texts that were evicted and processed again

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
