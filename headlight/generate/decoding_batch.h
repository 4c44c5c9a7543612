// Continuous batching: texts join and leave a running batch between its passes (Yu et al., "Orca: A Distributed Serving
// System for Transformer-Based Generative Models", 2022). One search serves greedy choice, sampling, beam search,
// guidance and speculative decoding, for language models and for decoders with cross-attention.
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
  std::vector<Hypothesis> hypotheses;  ///< n_best, best first; their ids are those that were chosen
  std::exception_ptr error = nullptr;  ///< if set, why there are none; other texts are not affected
};

struct DecodingBatchOptions {
  std::int64_t pass_tokens = 512;  ///< tokens of prompts in a pass: long prompts are read in chunks
  /// Tokens in the cache; 0: no limit. Beyond it, the text that joined last leaves the cache and is read again later.
  /// A single text may exceed it.
  std::int64_t cached_tokens = 0;
  /// Type of cached keys and values: bfloat16 takes half the memory of float32, int8 about a quarter.
  kernels::CacheType cache_type = kernels::CacheType::unrounded;
};

/// A running batch. The result of a text has the same bits alone, in any batch, after any prefix that is shared,
/// in any chunks, and when it was dropped from the cache and read again.
///
/// A batch is for one thread at a time. A callback runs in the thread that calls Step. In it, Add, Step and Remove
/// throw Error.
class HEADLIGHT_API DecodingBatch {
 public:
  /// The model must outlive the batch. Throws Error if it has no head that predicts the next token.
  explicit DecodingBatch(const LanguageModel& model, const DecodingBatchOptions& options = {});
  /// `shortlist` limits each text's vocabulary; null: the whole vocabulary. It must outlive the batch.
  explicit DecodingBatch(const ConditionalDecoder& model, const DecodingBatchOptions& options = {},
                         const Shortlist* shortlist = nullptr);
  ~DecodingBatch();

  /// Takes a text into the batch, which joins the next pass. Returns its id. Throws Error, without a change of the
  /// batch, if the request is impossible.
  std::int64_t Add(DecodingRequest request);

  /// Runs one pass: every text that is read gets its next token, or several accepted drafts if it is alone and the
  /// model has a draft; others read a chunk. Returns the texts that end. After any exception, such as std::bad_alloc,
  /// the batch can only be destroyed.
  std::vector<Decoded> Step();

  /// Drops a text, at any point of it. Returns false if there is none of this id.
  bool Remove(std::int64_t id);

  bool empty() const;
  std::size_t size() const;            ///< texts that have not ended
  std::int64_t tokens() const;         ///< chosen until now, of beams those of one
  std::int64_t cached_tokens() const;  ///< in the cache now
  std::int64_t cache_bytes() const;    ///< memory of the cache, which never shrinks: its peak
  std::int64_t evictions() const;      ///< texts that had to be read again

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
