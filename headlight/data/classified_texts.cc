#include "headlight/data/classified_texts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"
#include "headlight/text/tokenizers/truncate.h"

namespace headlight {
namespace {

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

ClassifiedText OfRecord(const JsonView& record) {
  // The second text's name goes with the first's. Both may be GLUE's.
  constexpr std::array<std::array<const char*, 2>, 5> pairs = {{{"text", "text_pair"},
                                                                {"sentence1", "sentence2"},
                                                                {"question", "sentence"},
                                                                {"premise", "hypothesis"},
                                                                {"question1", "question2"}}};
  ClassifiedText text{.text = {}, .label = LabelOf(record["label"]), .place = record.place(), .second = {}};
  for (const auto& [first_name, second_name] : pairs) {
    const JsonView first = record[first_name], second = record[second_name];
    if (!first.present()) continue;
    text.text = TextOf(first);
    if (second.present()) text.second = TextOf(second);
    return text;
  }
  text.text = TextOf(OneOf(record, {"text", "sentence", "sentence1", "question", "premise", "question1"}));
  return text;
}

// Looks for columns that are in another order than they are read in.
class ColumnCheck {
 public:
  void Add(const ClassifiedText& text) {
    if (lines_++ == 0) first_ = text;
    labels_.insert(text.label);
    if (!text.second) return;
    if (pairs_++ == 0) first_pair_ = text;
    if (seconds_.size() < kMostSeconds) seconds_.insert(*text.second);
  }

  std::vector<std::string> Warnings() const {
    constexpr std::size_t least = 20;  // lines, of which fewer say little
    std::vector<std::string> warnings;
    const std::set<std::string_view> names = {"label",  "labels",    "class",    "category", "target",
                                              "text",   "texts",     "sentence", "premise",  "sentence1",
                                              "review", "question1", "question"};
    const auto is_name = [&](std::string_view word) {
      std::string lower(word);
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      return names.contains(lower);
    };
    if (is_name(first_.label) || is_name(first_.text))
      warnings.push_back(
          fmt::format("{}: this line looks like a header, and is read as a text of class {}; a file with a header is "
                      "read where its name ends in .csv, with commas",
                      first_.place, Quoted(first_.label)));
    if (lines_ >= least && labels_.size() * 2 > lines_)
      warnings.push_back(fmt::format(
          "{}: {} is read as a class, and {} lines have {} different ones; the class is expected in the last column",
          first_.place, Quoted(first_.label), lines_, labels_.size()));
    if (pairs_ >= least && seconds_.size() < kMostSeconds && seconds_.size() * 10 <= pairs_)
      warnings.push_back(fmt::format(
          "{}: {} is read as a second text, and {} lines have only {} different ones; of three columns the last is the "
          "class",
          first_pair_.place, Quoted(*first_pair_.second), pairs_, seconds_.size()));
    return warnings;
  }

 private:
  static constexpr std::size_t kMostSeconds = 1 << 16;

  ClassifiedText first_, first_pair_;
  std::set<std::string> labels_, seconds_;
  std::size_t lines_ = 0, pairs_ = 0;
};

}  // namespace

TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                 std::int64_t longest, std::vector<std::string>& labels, NewLabels rule,
                                 const TextShare& share, bool truncate) {
  TextExamples read;
  bool any = false;
  const auto add = [&](const ClassifiedText& text) {
    any = any || HasText(text.text);
    const std::int32_t label = NumberOfLabel(text.label, labels, rule, text.place);
    if (!share.Has(text.text)) return;  // its class is one of the model's all the same
    Encoding encoding = text.second ? tokenizer.EncodePair(text.text, *text.second, {.read_special = false})
                                    : tokenizer.Encode(text.text, {.read_special = false});
    Check(truncate || std::ssize(encoding.ids) <= longest,
          "{}: {} tokens, of which the model reads {} at once; `truncate` leaves out its end", text.place,
          encoding.ids.size(), longest);
    if (Truncate(encoding, longest, tokenizer.cut_at())) ++read.truncated;
    Check(!encoding.ids.empty(), "{}: the text has no tokens", text.place);
    read.tokens += std::ssize(encoding.ids);
    read.texts.push_back({.ids = encoding.ids, .types = encoding.type_ids, .words = {}, .labels = {label}});
  };
  for (const std::string& path : paths) {
    if (HasRecords(path)) {
      Records records(path);
      while (const auto record = records.Next()) add(OfRecord(*record));
      continue;
    }
    ColumnCheck columns;
    LineReader lines(path);
    while (const auto line = lines.Next()) {
      if (line->empty()) continue;
      const ClassifiedText text = OfColumns(*line, fmt::format("{}:{}", path, lines.line_number()));
      add(text);
      columns.Add(text);
    }
    for (std::string& warning : columns.Warnings()) read.warnings.push_back(std::move(warning));
  }
  CheckAnyText(any || read.texts.empty(), paths);
  if (rule == NewLabels::added) {
    const std::vector<std::int32_t> numbers = SortLabels(labels);
    for (TextExample& text : read.texts) Renumber(numbers, text.labels);
  }
  return read;
}

}  // namespace headlight
