// Counts word n-grams for BLEU and character n-grams for chrF.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headlight {

/// The count of each n-gram. The keys are views of the text.
using Ngrams = std::unordered_map<std::u32string_view, std::int64_t>;

/// Assigns an id to each distinct word.
class WordNumbers {
 public:
  template <typename Word>  // std::string or std::string_view
  std::u32string Of(const std::vector<Word>& words) {
    std::u32string numbers;
    for (const Word& word : words)
      numbers.push_back(numbers_.try_emplace(std::string(word), static_cast<char32_t>(numbers_.size())).first->second);
    return numbers;
  }

 private:
  std::unordered_map<std::string, char32_t> numbers_;
};

/// Counts the n-grams of `text`, whose elements are characters or word ids.
inline Ngrams CountNgrams(std::u32string_view text, std::size_t n) {
  Ngrams counts;
  for (std::size_t begin = 0; begin + n <= text.size(); ++begin) ++counts[text.substr(begin, n)];
  return counts;
}

/// Returns the number of clipped matches: each n-gram of the hypothesis counts at most as often as in the reference.
inline std::int64_t CountMatches(const Ngrams& hypothesis, const Ngrams& reference) {
  std::int64_t matches = 0;
  for (const auto& [ngram, count] : hypothesis)
    if (const auto found = reference.find(ngram); found != reference.end()) matches += std::min(count, found->second);
  return matches;
}

}  // namespace headlight
