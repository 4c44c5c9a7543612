#include "headlight/data/text_examples.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

// Returns the word index of each token. Adjacent tokens within letters and digits belong to the same word.
std::vector<std::int32_t> WordsOf(std::string_view text, const Encoding& encoding) {
  const auto ends_word = [&](std::size_t byte) {
    const auto c = static_cast<unsigned char>(text[byte]);
    return c < 0x80 && std::isalnum(c) == 0;
  };
  std::vector<std::int32_t> words;
  std::int32_t word = -1;
  std::size_t last_end = 0;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    const auto begin = static_cast<std::size_t>(encoding.spans[i].begin);
    if (encoding.texts[i] < 0) {
      words.push_back(-1);
      continue;
    }
    const bool goes_on = word >= 0 && begin == last_end && begin > 0 && begin < text.size() && !ends_word(begin) &&
                         !ends_word(begin - 1);
    if (!goes_on) ++word;
    words.push_back(word);
    last_end = static_cast<std::size_t>(encoding.spans[i].end);
  }
  return words;
}

}  // namespace

void ForEachText(const std::string& path, const std::function<void(std::string_view text)>& body,
                 const TextSource& source) {
  TextReader texts(path, source);
  while (const auto text = texts.Next()) body(text->text);
}

TextExamples ReadTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer, std::int64_t longest,
                       bool for_encoder, const TextShare& share, const TextSource& source) {
  Check(longest >= 1, "texts cannot be cut into pieces of {} tokens", longest);
  TextExamples read;
  const EncodeOptions how{.add_special = for_encoder, .read_special = false};
  bool any = false;
  const auto add = [&](std::string_view line) {
    any = any || HasText(line);
    if (!share.Has(line)) return;
    const Encoding encoding = tokenizer.Encode(line, how);
    if (std::ranges::all_of(encoding.texts, [](std::int32_t text) { return text < 0; })) return;
    read.bytes += static_cast<std::int64_t>(line.size()) + 1;  // includes the line end, which the end token represents
    read.tokens += static_cast<std::int64_t>(encoding.ids.size());
    const std::vector<std::int32_t> words = for_encoder ? WordsOf(line, encoding) : std::vector<std::int32_t>();
    const auto length = static_cast<std::int64_t>(encoding.ids.size());
    if (length > longest) ++read.cut;
    for (std::int64_t begin = 0; begin < length; begin += longest) {
      const auto piece = [&](const std::vector<std::int32_t>& all) {
        return std::vector<std::int32_t>(all.begin() + begin, all.begin() + std::min(begin + longest, length));
      };
      TextExample part{.ids = piece(encoding.ids), .types = {}, .words = {}, .labels = {}};
      if (for_encoder) {
        part.types = piece(encoding.type_ids);
        part.words = piece(words);
        if (std::ranges::all_of(part.words, [](std::int32_t word) { return word < 0; })) continue;
      }
      read.texts.push_back(std::move(part));
    }
  };
  for (const std::string& path : paths) ForEachText(path, add, source);
  CheckAnyText(any || read.texts.empty(), paths);
  return read;
}

TextExample EncoderExample(std::string_view text, const PipelineTokenizer& tokenizer) {
  const Encoding encoding = tokenizer.Encode(text, {.read_special = false});
  return {.ids = encoding.ids, .types = encoding.type_ids, .words = WordsOf(text, encoding), .labels = {}};
}

std::uint64_t HashOfTexts(const std::vector<TextExample>& texts) {
  const auto bytes = [](const std::vector<std::int32_t>& numbers) {
    return std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int32_t));
  };
  std::uint64_t hash = 0;
  for (const TextExample& text : texts) {
    const std::uint64_t parts[] = {hash, HashOf(bytes(text.labels)), HashOf(bytes(text.ids))};
    hash = HashOf({reinterpret_cast<const char*>(parts), sizeof(parts)});
    if (text.numbers.empty()) continue;
    const std::uint64_t more[] = {
        hash, HashOf({reinterpret_cast<const char*>(text.numbers.data()), text.numbers.size() * sizeof(float)})};
    hash = HashOf({reinterpret_cast<const char*>(more), sizeof(more)});
  }
  return hash;
}

}  // namespace headlight
