// Continuous batching: texts join and leave a running batch between forward passes (Yu et al., "Orca: A Distributed
// Serving System for Transformer-Based Generative Models", 2022). One search implements greedy search, sampling, beam
// search, guidance and speculative decoding, for language models and for decoders with cross-attention.
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

/// A text that has left the batch.
struct Decoded {
  std::int64_t id = 0;
  std::vector<Hypothesis> hypotheses;  ///< n_best, best first; their ids are only the chosen tokens
  std::exception_ptr error = nullptr;  ///< if set, the reason why there are none; other texts are not affected
};

struct DecodingBatchOptions {
  std::int64_t pass_tokens = 512;  ///< prompt tokens per pass, at most: long prompts are read in chunks
  /// Tokens in the cache, at most; 0: no limit. Beyond it, the text that joined last is evicted and read again later. A
  /// single text may exceed the limit.
  std::int64_t cached_tokens = 0;
  /// Type of cached keys and values. bfloat16 takes half the memory of float32, int8 about a quarter.
  kernels::CacheType cache_type = kernels::CacheType::unrounded;
};

/// A running batch. The result of a text is bit-identical by itself and in any batch. It does not depend on shared
/// prefixes, on chunks, or on evictions from the cache.
///
/// A batch is for one thread at a time. Callbacks run in the thread that calls Step; in them Add, Step and Remove throw
/// Error.
class HEADLIGHT_API DecodingBatch {
 public:
  /// The model must outlive the batch. Throws Error if it has no head that predicts the next token.
  explicit DecodingBatch(const LanguageModel& model, const DecodingBatchOptions& options = {});
  /// `shortlist` limits each text's vocabulary; null: the whole vocabulary. It must outlive the batch.
  explicit DecodingBatch(const ConditionalDecoder& model, const DecodingBatchOptions& options = {},
                         const Shortlist* shortlist = nullptr);
  ~DecodingBatch();

  /// Adds a text, which joins the next pass. Returns its id. Throws Error, leaving the batch unchanged, if the request
  /// is impossible.
  std::int64_t Add(DecodingRequest request);

  /// Runs one forward pass. Every running text gets its next token; a single text gets several if the model has a draft
  /// and drafts are accepted. Other texts read a chunk of their prompt. Returns the texts that end. After an exception,
  /// such as std::bad_alloc, the batch can only be destroyed.
  std::vector<Decoded> Step();

  /// Removes a text at any point. Returns false if there is no text with this id.
  bool Remove(std::int64_t id);

  bool empty() const;
  std::size_t size() const;            ///< number of texts that have not ended
  std::int64_t tokens() const;         ///< number of chosen tokens; with beams, those of one beam
  std::int64_t cached_tokens() const;  ///< tokens in the cache now
  std::int64_t token_bytes() const;    ///< bytes of one token in the cache; 0 before the first pass
  std::int64_t cache_bytes() const;    ///< memory of the cache, which never shrinks: its peak
  std::int64_t evictions() const;      ///< number of texts that were evicted and read again

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
