#include "headlight/data/text_examples.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/data/json_lines.h"
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

// Calls body(text) for each text of a file.
template <typename Body>
void ForEachText(const std::string& path, const Body& body) {
  if (IsJsonLines(path)) {
    JsonLines lines(path);
    while (const auto line = lines.Next()) body(TextOf((*line)["text"]));
  } else {
    LineReader lines(path);
    while (const auto line = lines.Next()) body(*line);
  }
}

struct ClassifiedText {
  std::string text, label, place;
  std::optional<std::string> second;
};

// A text or two and a class, with tabs between.
ClassifiedText OfColumns(std::string_view line, std::string place) {
  const std::size_t last = line.rfind('\t');
  Check(last != std::string_view::npos, "{}: expected a text, a tab and its class", place);
  const std::string_view texts = line.substr(0, last), label = line.substr(last + 1);
  const std::size_t between = texts.find('\t');
  Check(between == texts.rfind('\t'), "{}: has more than two texts and a class", place);
  ClassifiedText text{std::string(texts.substr(0, between)), std::string(label), std::move(place), {}};
  if (between != std::string_view::npos) text.second = texts.substr(between + 1);
  return text;
}

ClassifiedText OfObject(const JsonView& line) {
  const JsonView label = line["label"], second = line["text_pair"];
  const auto* number = label.value().As<std::int64_t>();
  ClassifiedText text{
      TextOf(line["text"]), number != nullptr ? std::to_string(*number) : TextOf(label), line.place(), {}};
  if (second.present()) text.second = TextOf(second);
  return text;
}

template <typename Body>
void ForEachClassifiedText(const std::string& path, const Body& body) {
  if (IsJsonLines(path)) {
    JsonLines lines(path);
    while (const auto line = lines.Next()) body(OfObject(*line));
  } else {
    LineReader lines(path);
    while (const auto line = lines.Next())
      if (!line->empty()) body(OfColumns(*line, fmt::format("{}:{}", path, lines.line_number())));
  }
}

}  // namespace

TextExamples ReadTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer, std::int64_t longest,
                       bool for_encoder) {
  TextExamples read;
  const EncodeOptions how{.add_special = for_encoder, .read_special = false};
  const auto add = [&](std::string_view line) {
    const Encoding encoding = tokenizer.Encode(line, how);
    if (std::ranges::all_of(encoding.texts, [](std::int32_t text) { return text < 0; })) return;
    read.bytes += static_cast<std::int64_t>(line.size()) + 1;  // with the line's end, which the end token says
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
  for (const std::string& path : paths) ForEachText(path, add);
  return read;
}

std::int32_t NumberOfLabel(std::string_view label, std::vector<std::string>& labels, bool may_grow,
                           const std::string& place) {
  auto found = std::ranges::find(labels, label);
  if (found == labels.end()) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    Check(!label.empty() && std::ranges::none_of(label, control),
          "{}: a label must have a name, without control characters", place);
    constexpr std::ptrdiff_t shown = 10;
    constexpr std::size_t most = 1 << 14;
    const auto some = labels.begin() + std::min(std::ssize(labels), shown);
    Check(may_grow, "{}: '{}' is none of the labels that are known: {}{}", place, label,
          fmt::join(labels.begin(), some, ", "), some == labels.end() ? "" : ", ...");
    Check(labels.size() < most, "{}: more than {} different labels", place, most);
    found = labels.insert(labels.end(), std::string(label));
  }
  return static_cast<std::int32_t>(found - labels.begin());
}

TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                 std::int64_t longest, std::vector<std::string>& labels, bool may_grow) {
  TextExamples read;
  const auto add = [&](const ClassifiedText& text) {
    const std::int32_t label = NumberOfLabel(text.label, labels, may_grow, text.place);
    const Encoding encoding = text.second ? tokenizer.EncodePair(text.text, *text.second, {.read_special = false})
                                          : tokenizer.Encode(text.text, {.read_special = false});
    Check(std::ssize(encoding.ids) <= longest, "{}: {} tokens, of which the model reads {}", text.place,
          encoding.ids.size(), longest);
    Check(!encoding.ids.empty(), "{}: the text has no tokens", text.place);
    read.tokens += std::ssize(encoding.ids);
    read.texts.push_back({.ids = encoding.ids, .types = encoding.type_ids, .words = {}, .labels = {label}});
  };
  for (const std::string& path : paths) ForEachClassifiedText(path, add);
  return read;
}

std::uint64_t HashOfTexts(const std::vector<TextExample>& texts) {
  const auto bytes = [](const std::vector<std::int32_t>& numbers) {
    return std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int32_t));
  };
  std::uint64_t hash = 0;
  for (const TextExample& text : texts) {
    const std::uint64_t parts[] = {hash, HashOf(bytes(text.labels)), HashOf(bytes(text.ids))};
    hash = HashOf({reinterpret_cast<const char*>(parts), sizeof(parts)});
  }
  return hash;
}

}  // namespace headlight
