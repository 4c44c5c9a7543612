#include "headlight/data/text_examples.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/data/lines.h"

namespace headlight {
namespace {

// Which word each token is part of: tokens that touch each other within letters and digits are of one.
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

TextExamples ReadTexts(const std::vector<std::string>& paths, const TokenizerPipeline& tokenizer, std::int64_t longest,
                       bool for_encoder) {
  TextExamples read;
  const EncodeOptions how{.add_special = for_encoder, .read_special = false};
  for (const std::string& path : paths) {
    LineReader lines(path);
    while (const auto line = lines.Next()) {
      const Encoding encoding = tokenizer.Encode(*line, how);
      if (std::ranges::all_of(encoding.texts, [](std::int32_t text) { return text < 0; })) continue;
      read.bytes += static_cast<std::int64_t>(line->size()) + 1;  // with the line's end, which the end token says
      read.tokens += static_cast<std::int64_t>(encoding.ids.size());
      TextExample text{.ids = encoding.ids, .types = encoding.type_ids, .words = WordsOf(*line, encoding), .label = -1};
      const auto length = static_cast<std::int64_t>(text.ids.size());
      if (length > longest) ++read.cut;
      for (std::int64_t begin = 0; begin < length; begin += longest) {
        const auto piece = [&](const std::vector<std::int32_t>& all) {
          return std::vector<std::int32_t>(all.begin() + begin, all.begin() + std::min(begin + longest, length));
        };
        TextExample part{.ids = piece(text.ids), .types = piece(text.types), .words = piece(text.words), .label = -1};
        if (!for_encoder) part.types.clear(), part.words.clear();
        if (!for_encoder || std::ranges::any_of(part.words, [](auto word) { return word >= 0; }))
          read.texts.push_back(std::move(part));
      }
    }
  }
  return read;
}

TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths, const TokenizerPipeline& tokenizer,
                                 std::int64_t longest, std::vector<std::string>& labels, bool may_grow) {
  TextExamples read;
  for (const std::string& path : paths) {
    LineReader lines(path);
    while (const auto line = lines.Next()) {
      if (line->empty()) continue;
      const std::string place = fmt::format("{}:{}", path, lines.line_number());
      const std::size_t last = line->rfind('\t');
      Check(last != std::string_view::npos, "{}: expected a text, a tab and its class", place);
      const std::string_view texts = line->substr(0, last), label = line->substr(last + 1);
      const std::size_t between = texts.find('\t');
      Check(between == texts.rfind('\t'), "{}: has more than two texts and a class", place);
      auto found = std::ranges::find(labels, label);
      if (found == labels.end()) {
        Check(may_grow, "{}: class '{}' is none of {}", place, label, fmt::join(labels, ", "));
        found = labels.insert(labels.end(), std::string(label));
      }
      const Encoding encoding =
          between == std::string_view::npos
              ? tokenizer.Encode(texts, {.read_special = false})
              : tokenizer.EncodePair(texts.substr(0, between), texts.substr(between + 1), {.read_special = false});
      Check(static_cast<std::int64_t>(encoding.ids.size()) <= longest, "{}: {} tokens, of which the model reads {}",
            place, encoding.ids.size(), longest);
      read.tokens += static_cast<std::int64_t>(encoding.ids.size());
      read.texts.push_back({.ids = encoding.ids,
                            .types = encoding.type_ids,
                            .words = {},
                            .label = static_cast<std::int32_t>(found - labels.begin())});
    }
  }
  return read;
}

std::uint64_t HashOfTexts(const std::vector<TextExample>& texts) {
  std::uint64_t hash = 0;
  for (const TextExample& text : texts) {
    const std::uint64_t parts[] = {
        hash, static_cast<std::uint64_t>(text.label),
        HashOf({reinterpret_cast<const char*>(text.ids.data()), text.ids.size() * sizeof(std::int32_t)})};
    hash = HashOf({reinterpret_cast<const char*>(parts), sizeof(parts)});
  }
  return hash;
}

}  // namespace headlight
