// The texts of a running batch. BatchTexts selects the texts that are in the cache and the tokens of the next pass.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/generate/batch_model.h"
#include "headlight/generate/search.h"

namespace headlight {

struct BatchTexts {
  /// DecodingBatchOptions documents the parameters. The model must outlive the texts.
  BatchTexts(BatchModel& of_model, std::int64_t tokens_of_pass, std::int64_t most_cached);

  /// Returns the next pass. Adds waiting texts to the cache. Evicts the text that joined last if the pass would exceed
  /// the capacity of the cache.
  Pass NextPass();
  /// Removes a text from the batch and the cache.
  void Drop(Search& search);

  std::vector<std::unique_ptr<Search>> searches;  ///< sorted by id
  std::int64_t evictions = 0;                     ///< number of texts that were evicted and processed again

 private:
  // The cached text that shares the longest prefix with a beam, and the number of shared cached tokens. `later` is the
  // length of the longest common prefix after all texts are completely in the cache.
  struct Beginning {
    std::int32_t text = -1, tokens = 0, later = 0;
  };

  // Returns the encoder states for the cross-attention of a prompt.
  static const Tensor& StatesOf(const Search& search, std::size_t which);
  // Returns the index of the cached memory with the same encoder states, or -1.
  std::int32_t MemoryOf(const Search& search, std::size_t which) const;
  Beginning LongestBeginning(const Search& search, std::size_t beam, std::size_t which) const;
  // Adds a search to the cache, except beams that wait until a text with the same tokens is in the cache.
  void Join(Search& search);
  void KeepMemory(Search& search, std::size_t which);
  void LeaveCache(Search& search);
  // Returns the next token of every running text, followed by chunks of prompts.
  Pass Parts() const;

  BatchModel& model_;
  DecoderCache& cache_;
  std::int64_t pass_tokens_, cached_tokens_;
};

}  // namespace headlight
