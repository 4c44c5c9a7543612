// The texts of a running batch: selects those that are in the cache and their tokens for the next pass.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/generate/batch_model.h"
#include "headlight/generate/search.h"

namespace headlight {

struct BatchTexts {
  /// The parameters are those of DecodingBatchOptions. The model must outlive the texts.
  BatchTexts(BatchModel& of_model, std::int64_t tokens_of_pass, std::int64_t most_cached);

  /// Lets waiting texts join, and evicts the last text from the cache if the pass would exceed its capacity.
  Pass NextPass();
  /// Removes a text, also from the cache.
  void Drop(Search& search);

  std::vector<std::unique_ptr<Search>> searches;  ///< sorted by id
  std::int64_t evictions = 0;                     ///< texts that were evicted and read again

 private:
  // The cached text that shares the longest prefix with a beam, and the length of the cached part. `later`: the longest
  // common prefix when all texts have been read.
  struct Beginning {
    std::int32_t text = -1, tokens = 0, later = 0;
  };

  // The encoder states for the cross-attention of a prompt.
  static const Tensor& StatesOf(const Search& search, std::size_t which);
  // The cached memory with the same encoder states, or -1.
  std::int32_t MemoryOf(const Search& search, std::size_t which) const;
  Beginning LongestBeginning(const Search& search, std::size_t beam, std::size_t which) const;
  // Adds a search to the cache, except beams that wait for a text with the same tokens.
  void Join(Search& search);
  void KeepMemory(Search& search, std::size_t which);
  void LeaveCache(Search& search);
  // The next token of every running text, then chunks of prompts.
  Pass Parts() const;

  BatchModel& model_;
  DecoderCache& cache_;
  std::int64_t pass_tokens_, cached_tokens_;
};

}  // namespace headlight
