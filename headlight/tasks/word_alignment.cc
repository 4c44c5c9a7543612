#include "headlight/tasks/word_alignment.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {

WordAlignment AlignWords(const AttentionRecord& record, const TokenWords& words) {
  const auto last =
      std::ranges::find(record.maps.rbegin(), record.maps.rend(), AttentionKind::cross, &AttentionMap::kind);
  Ensure(last != record.maps.rend(), "words are to be aligned without cross-attention");
  const AttentionMap& map = *last;
  Ensure(words.source.size() <= static_cast<std::size_t>(map.keys) &&
             words.target.size() <= static_cast<std::size_t>(map.queries),
         "words are to be aligned of other tokens than were attended to");

  WordAlignment alignment;
  for (std::size_t query = 0; query < words.target.size(); ++query) {
    if (words.target[query] < 0) continue;
    float most = -1;
    std::int32_t word = -1;
    for (std::size_t key = 0; key < words.source.size(); ++key) {
      if (words.source[key] < 0) continue;
      float sum = 0;
      for (int head = 0; head < map.heads; ++head) sum += map.at(head, static_cast<int>(query), static_cast<int>(key));
      if (sum <= most) continue;
      most = sum;
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
