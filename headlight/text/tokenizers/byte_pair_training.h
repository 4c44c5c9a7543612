// Trains byte-pair encoding (BPE).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headlight {

/// A distinct word of a text and its frequency.
struct CountedWord {
  std::string text;  ///< UTF-8
  std::int64_t count = 0;
};

/// A callback that is called regularly during training.
using TrainingProgressCallback = std::function<void(std::int64_t done, std::int64_t total)>;

struct BytePairVocabulary {
  std::vector<std::string> pieces;                          ///< by id
  std::vector<std::pair<std::string, std::string>> merges;  ///< by rank
};

/// Trains BPE: starts from `pieces` and every character of the words, and repeatedly merges the most frequent adjacent
/// pair until there are `size` pieces or no pair is left. If pairs are equally frequent, the pair with the smaller ids
/// is merged. The pieces and their order are as in the trainer of the tokenizers library. See Sennrich et al., "Neural
/// Machine Translation of Rare Words with Subword Units", 2016. `prefix` marks characters that do not begin a word.
BytePairVocabulary TrainBytePairs(const std::vector<CountedWord>& words, std::vector<std::string> pieces,
                                  std::size_t size, const std::string& prefix,
                                  const TrainingProgressCallback& progress);

}  // namespace headlight
