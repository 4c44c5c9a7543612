#include "headlight/pipelines/word_alignment.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {

WordAlignment AlignWords(std::span<const std::shared_ptr<const std::vector<float>>> attention,
                         const TokenWords& words) {
  Ensure(words.target.size() <= attention.size(), "{} tokens must be aligned, and {} have attention",
         words.target.size(), attention.size());
  WordAlignment alignment;
  for (std::size_t query = 0; query < words.target.size(); ++query) {
    if (words.target[query] < 0) continue;
    const std::vector<float>& weights = *attention[query];
    Ensure(words.source.size() <= weights.size(), "{} source tokens must be aligned, and {} have weights",
           words.source.size(), weights.size());
    float most = -1;
    std::int32_t word = -1;
    for (std::size_t key = 0; key < words.source.size(); ++key) {
      if (words.source[key] < 0 || weights[key] <= most) continue;
      most = weights[key];
      word = words.source[key];
    }
    if (word >= 0) alignment.push_back({word, words.target[query]});
  }
  std::ranges::sort(alignment);
  alignment.erase(std::unique(alignment.begin(), alignment.end()), alignment.end());
  return alignment;
}

std::int32_t CountWords(std::string_view text) {
  std::int32_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    words += !space && !inside;
    inside = !space;
  }
  return words;
}

}  // namespace headlight
