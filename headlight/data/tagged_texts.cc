#include "headlight/data/tagged_texts.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {
namespace {

constexpr std::initializer_list<const char*> kTagNames = {"tags", "ner_tags"};

struct Sentence {
  std::string text;                 // the words, separated by spaces
  std::vector<std::size_t> begins;  // byte offset of each word
  std::vector<std::int32_t> tags;

  // Adds a word. `location` is the word's location for error messages.
  void Add(std::string_view word, std::int32_t tag, const std::string& location) {
    Check(word.find_first_not_of(' ') != std::string_view::npos, "{}: a word is empty", location);
    if (!begins.empty()) text += ' ';
    begins.push_back(text.size());
    text += word;
    tags.push_back(tag);
    // Without empty lines, the whole file would be one sentence.
    Check(text.size() <= kMaxLineBytes, "{}: a sentence is longer than {} bytes; an empty line ends one", location,
          kMaxLineBytes);
  }
};

// Calls body(sentence) for each sentence of a CoNLL file.
template <typename Number, typename Body>
void ForEachOfConll(const std::string& path, const Number& number, const Body& body) {
  LineReader lines(path);
  Sentence sentence;
  std::size_t expected = 0;  // number of columns
  const auto end = [&] {
    if (!sentence.begins.empty()) body(std::exchange(sentence, {}));
  };
  while (const auto line = lines.Next()) {
    const std::vector<std::string_view> columns = ColumnsOfConll(*line);
    if (columns.empty() || columns[0] == "-DOCSTART-") {
      end();
      continue;
    }
    const std::string location = fmt::format("{}:{}", path, lines.line_number());
    Check(columns.size() >= 2, "{}: expected a word and its tag, with a space or a tab between", location);
    if (expected == 0) expected = columns.size();
    Check(columns.size() == expected, "{}: {} columns, and the lines before have {}", location, columns.size(),
          expected);
    sentence.Add(columns.front(), number(columns.back(), location), location);
  }
  end();
}

// Calls item(text, location) for each item of an array, or for each space-separated word of a text (a CSV field).
template <typename Item>
void ForEachItem(const JsonView& list, std::string (*text_of)(const JsonView&), const Item& item) {
  if (list.value().As<std::string>() == nullptr) {
    for (const JsonView& one : list.Items()) item(text_of(one), one.location());
    return;
  }
  const std::string text = TextOf(list);
  for (const std::string_view one : ColumnsOfConll(text)) item(std::string(one), list.location());
}

template <typename Number, typename Body>
void ForEachOfRecords(Records records, const Number& number, const Body& body) {
  while (const auto record = records.Next()) {
    const TaggedRecord tagged = TagsOf(*record);
    std::vector<std::int32_t> tags;
    for (std::size_t i = 0; i < tagged.tags.size(); ++i)
      tags.push_back(number(tagged.tags[i], tagged.tag_locations[i]));
    const std::size_t words = tagged.words.size();
    Sentence sentence;
    for (std::size_t i = 0; i < std::min(words, tags.size()); ++i)
      sentence.Add(tagged.words[i], tags[i], tagged.word_locations[i]);
    Check(words == tags.size(), "{}: {} tokens have {} tags", record->location(), words, tags.size());
    if (words > 0) body(sentence);
  }
}

// Returns the index of each token's word, or -1 for tokens without a word.
std::vector<std::int32_t> WordOfEachToken(const Sentence& sentence, const Encoding& encoding) {
  std::vector<std::int32_t> words;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    words.push_back(-1);
    if (encoding.texts[i] < 0) continue;
    // A token may begin with the space before its word, or consist of that space.
    const std::size_t byte = sentence.text.find_first_not_of(' ', static_cast<std::size_t>(encoding.spans[i].begin));
    if (byte == std::string::npos) continue;
    words.back() =
        static_cast<std::int32_t>(std::ranges::upper_bound(sentence.begins, byte) - sentence.begins.begin()) - 1;
  }
  return words;
}

}  // namespace

std::vector<std::string_view> ColumnsOfConll(std::string_view line) {
  constexpr std::string_view between = " \t";
  std::vector<std::string_view> columns;
  for (std::size_t begin = 0; (begin = line.find_first_not_of(between, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(between, begin), line.size());
    columns.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return columns;
}

bool HasTags(const std::vector<std::string>& header) { return HasAny(header, {"tokens"}) && HasAny(header, kTagNames); }

TaggedRecord TagsOf(const JsonView& record) {
  TaggedRecord tagged;
  ForEachItem(OneOf(record, kTagNames), LabelOf, [&](std::string tag, std::string location) {
    tagged.tags.push_back(std::move(tag));
    tagged.tag_locations.push_back(std::move(location));
  });
  ForEachItem(record["tokens"], TextOf, [&](std::string word, std::string location) {
    tagged.words.push_back(std::move(word));
    tagged.word_locations.push_back(std::move(location));
  });
  return tagged;
}

TaggedTexts ReadTaggedTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                            std::int64_t longest, std::vector<std::string>& labels, NewLabels rule,
                            const TextShare& share, std::optional<TextFormat> format) {
  TaggedTexts read;
  const auto number = [&](std::string_view tag, const std::string& location) {
    return NumberOfLabel(tag, labels, rule, location);
  };
  // Returns the label of the tokens after a word's first token.
  const auto continuation_of = [&](std::int32_t tag) {
    const std::string& label = labels[static_cast<std::size_t>(tag)];
    const TagMeaning meaning = MeaningOfTag(label);
    if (!meaning.begins || meaning.ends) return tag;
    const std::string goes_on = fmt::format("I-{}", meaning.name);
    const auto found = std::ranges::find(labels, goes_on);
    if (found != labels.end()) return static_cast<std::int32_t>(found - labels.begin());
    return rule == NewLabels::added ? number(goes_on, "the tag of a continued span") : -1;
  };
  const auto add = [&](const Sentence& sentence) {
    if (!share.Has(sentence.text)) return;
    const Encoding encoding = tokenizer.Encode(sentence.text, {.read_special = false});
    const std::vector<std::int32_t> words = WordOfEachToken(sentence, encoding);
    const std::vector<Window> windows = SlidingWindows(encoding, 0, longest, longest / 4);
    const std::vector<std::int32_t> window_of = WindowOfEachToken(windows);
    for (std::size_t w = 0; w < windows.size(); ++w) {
      const Window& window = windows[w];
      TextExample example{.ids = window.encoding.ids, .types = window.encoding.type_ids, .words = {}, .labels = {}};
      example.words.resize(example.ids.size(), -1);
      example.labels.resize(example.ids.size(), -1);
      for (std::int32_t token = 0; token < window.count; ++token) {
        const auto in_text = static_cast<std::size_t>(window.begin + token);
        const auto in_window = static_cast<std::size_t>(window.first + token);
        if (window_of[in_text - static_cast<std::size_t>(windows[0].begin)] != static_cast<std::int32_t>(w)) continue;
        const std::int32_t word = words[in_text];
        if (word < 0) continue;
        const bool first = in_text == 0 || words[in_text - 1] != word;
        const std::int32_t tag = sentence.tags[static_cast<std::size_t>(word)];
        if (first) example.words[in_window] = word;
        example.labels[in_window] = first ? tag : continuation_of(tag);
      }
      if (std::ranges::all_of(example.labels, [](std::int32_t label) { return label < 0; })) continue;
      read.texts.tokens += std::ssize(example.ids);
      read.texts.texts.push_back(std::move(example));
      read.sentence_of.push_back(static_cast<std::int32_t>(read.tags.size()));
    }
    if (windows.size() > 1) ++read.texts.cut;
    read.tags.push_back(sentence.tags);
  };
  for (const std::string& path : paths) {
    if (std::optional<Records> records = RecordsOf(path, HasTags, format))
      ForEachOfRecords(*std::move(records), number, add);
    else
      ForEachOfConll(path, number, add);
  }
  if (rule == NewLabels::added) {
    const std::vector<std::int32_t> numbers = SortLabels(labels);
    for (TextExample& text : read.texts.texts) Renumber(numbers, text.labels);
    for (std::vector<std::int32_t>& tags : read.tags) Renumber(numbers, tags);
  }
  return read;
}

}  // namespace headlight
