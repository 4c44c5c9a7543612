#include "headlight/pipelines/token_words.h"

#include <cstddef>

#include "headlight/pipelines/growing_text.h"
#include "headlight/pipelines/word_alignment.h"

namespace headlight {

std::vector<std::vector<std::int32_t>> SourceWords(std::string_view text, std::span<const TextPart> parts) {
  std::vector<std::vector<std::int32_t>> words(parts.size());
  const std::int32_t all = CountWords(text);
  std::int32_t begun = 0;   // number of words that begin before `counted`
  std::size_t counted = 0;  // number of bytes counted so far
  bool inside = false;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto offset = static_cast<std::size_t>(parts[part].text.data() - text.data());
    for (const TextSpan& span : parts[part].spans) {
      for (const std::size_t end = offset + static_cast<std::size_t>(span.end); counted < end; ++counted) {
        const bool in_word = CountWords(text.substr(counted, 1)) == 1;
        begun += in_word && !inside;
        inside = in_word;
      }
      const auto length = static_cast<std::size_t>(span.end - span.begin);
      const bool space = CountWords(parts[part].text.substr(static_cast<std::size_t>(span.begin), length)) == 0;
      const std::int32_t word = space ? begun : begun - 1;
      words[part].push_back(word < all ? word : -1);
    }
  }
  return words;
}

std::vector<std::int32_t> TargetWords(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> words;
  GrowingText text(tokenizer);
  for (const std::int32_t token : tokens) words.push_back(text.Add({&token, 1}) ? CountWords(text.text()) - 1 : -1);
  return words;
}

}  // namespace headlight
