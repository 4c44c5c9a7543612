// The texts of a running batch: which are in the cache, and what the next pass reads of each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/generate/batch_model.h"
#include "headlight/generate/search.h"

namespace headlight {

struct BatchTexts {
  // As in DecodingBatchOptions. The model must outlive the texts.
  BatchTexts(BatchModel& of_model, std::int64_t tokens_of_pass, std::int64_t most_cached);

  // Lets waiting texts join, and drops the last from the cache if the pass would exceed it.
  Pass NextPass();
  // Drops a text, also from the cache.
  void Drop(Search& search);

  std::vector<std::unique_ptr<Search>> searches;  // in the order of their ids
  std::int64_t evictions = 0;                     // texts that had to be read again

 private:
  // The cached text that begins with the most tokens of a beam, and how many it has of them. `later`: how many some
  // text will have.
  struct Beginning {
    std::int32_t text = -1, tokens = 0, later = 0;
  };

  // The states that the cross-attention of a prompt looks at.
  static const Tensor& StatesOf(const Search& search, std::size_t which);
  // The cached memory of a search with the same states, or -1.
  std::int32_t MemoryOf(const Search& search, std::size_t which) const;
  Beginning LongestBeginning(const Search& search, std::size_t beam, std::size_t which) const;
  // Gives a search its texts in the cache, but those that should wait for a text that reads the same tokens.
  void Join(Search& search);
  void KeepMemory(Search& search, std::size_t which);
  void LeaveCache(Search& search);
  // The next token of every text that is read, then chunks of the others.
  Pass Parts() const;

  BatchModel& model_;
  DecoderCache& cache_;
  std::int64_t pass_tokens_, cached_tokens_;
};

}  // namespace headlight
