// Learning the merges of byte-pair encoding.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headlight {

// A word of the text, and how often it is there.
struct CountedWord {
  std::string text;  // UTF-8
  std::int64_t count = 0;
};

// Told now and then how far long work is.
using TrainingProgressCallback = std::function<void(std::int64_t done, std::int64_t total)>;

struct BytePairVocabulary {
  std::vector<std::string> pieces;                          // by id
  std::vector<std::pair<std::string, std::string>> merges;  // first comes first
};

// Begins with `pieces` and every character of the words, and merges, again and again, the two neighbours that stand
// together most often, of equals those of the smaller ids, until there are `size` pieces or no two neighbours are left
// (Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", 2016; the same pieces, in the same
// order, as the tokenizers library's trainer). Characters that go on within a word begin with `prefix`.
BytePairVocabulary TrainBytePairs(const std::vector<CountedWord>& words, std::vector<std::string> pieces,
                                  std::size_t size, const std::string& prefix,
                                  const TrainingProgressCallback& progress);

}  // namespace headlight
