// Counts of n-grams, which BLEU takes over words and chrF over characters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace headlight {

// How often each run of n items occurs; its keys are pieces of the text that was counted.
using Ngrams = std::unordered_map<std::u32string_view, std::int64_t>;

// Of a text whose items are any numbers: characters, or the indices of words.
inline Ngrams CountNgrams(std::u32string_view text, std::size_t n) {
  Ngrams counts;
  for (std::size_t begin = 0; begin + n <= text.size(); ++begin) ++counts[text.substr(begin, n)];
  return counts;
}

// How many n-grams of the hypothesis the reference grants, each at most as often as it has it.
inline std::int64_t CountMatches(const Ngrams& hypothesis, const Ngrams& reference) {
  std::int64_t matches = 0;
  for (const auto& [ngram, count] : hypothesis)
    if (const auto found = reference.find(ngram); found != reference.end()) matches += std::min(count, found->second);
  return matches;
}

}  // namespace headlight
