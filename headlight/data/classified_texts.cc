#include "headlight/data/classified_texts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/csv.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"
#include "headlight/text/tokenizers/truncate.h"

namespace headlight {
namespace {

struct ClassifiedText {
  std::string text, location;
  std::vector<std::string> labels;  // class names, or numbers as text
  std::optional<std::string> second;
};

// Parses one or two texts and a class, separated by tabs.
ClassifiedText OfColumns(std::string_view line, std::string location, LabelsPerText asked) {
  const std::size_t last = line.rfind('\t');
  Check(last != std::string_view::npos, "{}: expected a text, a tab and its {}", location,
        asked == LabelsPerText::numbers ? "number" : "class");
  const std::string_view texts = line.substr(0, last);
  const std::size_t between = texts.find('\t');
  Check(between == texts.rfind('\t'), "{}: has more than two texts and a class", location);
  ClassifiedText text{
      std::string(texts.substr(0, between)), std::move(location), LabelsOfField(line.substr(last + 1), asked), {}};
  if (between != std::string_view::npos) text.second = texts.substr(between + 1);
  return text;
}

// Returns a class, or a number as text.
std::string LabelOrNumber(const JsonView& json, LabelsPerText asked) {
  if (asked != LabelsPerText::numbers || json.value().As<std::string>() != nullptr) return LabelOf(json);
  return fmt::format("{}", json.Number());
}

std::vector<std::string> LabelsOfRecord(const JsonView& record, const ClassifiedTextOptions& options, bool fields) {
  const JsonView labels = LabelOfRecord(record, options.columns);
  if (fields && options.asked == LabelsPerText::several && !labels.present()) return {};  // an empty field
  Check(labels.present(), "{}: there is no label, but {}; `label_column` names its key", record.location(),
        MembersOf(record));
  if (fields) return LabelsOfField(TextOf(labels), options.asked);
  std::vector<std::string> found;
  if (options.asked != LabelsPerText::one && labels.value().As<Json::Array>() != nullptr)
    for (const JsonView& label : labels.Items()) found.push_back(LabelOrNumber(label, options.asked));
  else
    found.push_back(LabelOrNumber(labels, options.asked));
  return found;
}

ClassifiedText OfRecord(const JsonView& record, const std::vector<std::string>& header,
                        const ClassifiedTextOptions& options) {
  SourceText texts = TextsOfRecord(record, header, options.columns, TextsAsked::texts);
  return {.text = std::move(texts.text),
          .location = record.location(),
          .labels = LabelsOfRecord(record, options, !header.empty()),
          .second = std::move(texts.second)};
}

// Returns the label values of a text. Throws Error naming the text unless it has one value per label.
std::vector<float> NumbersOf(const ClassifiedText& text, std::size_t labels) {
  std::vector<float> numbers;
  for (const std::string& field : text.labels) {
    const std::optional<double> number = NumberOf(field);
    Check(number && std::isfinite(static_cast<float>(*number)), "{}: {} is not a number that a float holds",
          text.location, Quoted(field));
    numbers.push_back(static_cast<float>(*number));
  }
  Check(numbers.size() == labels, "{}: {} numbers, and the model has {}", text.location, numbers.size(), labels);
  return numbers;
}

// Detects columns that are in the wrong order.
class ColumnCheck {
 public:
  explicit ColumnCheck(LabelsPerText asked) : asked_(asked) {}

  void Add(const ClassifiedText& text) {
    if (lines_++ == 0) first_ = text;
    labels_.insert(LabelOf(text));
    if (!text.second) return;
    if (pairs_++ == 0) first_pair_ = text;
    if (seconds_.size() < kMostSeconds) seconds_.insert(*text.second);
  }

  std::vector<std::string> Warnings() const {
    constexpr std::size_t least = 20;  // minimum number of lines for a warning
    std::vector<std::string> warnings;
    const std::set<std::string_view> names = {"label",  "labels",    "class",    "category", "target",
                                              "text",   "texts",     "sentence", "premise",  "sentence1",
                                              "review", "question1", "question"};
    const auto is_name = [&](std::string_view word) {
      std::string lower(word);
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      return names.contains(lower);
    };
    if (is_name(LabelOf(first_)) || is_name(first_.text))
      warnings.push_back(
          fmt::format("{}: this line looks like a header, and is read as a text of class {}; the header of "
                      "a .tsv file names the columns text and label, or others that `text_column` and `label_column` "
                      "name",
                      first_.location, Quoted(LabelOf(first_))));
    if (asked_ == LabelsPerText::one && lines_ >= least && labels_.size() * 2 > lines_)
      warnings.push_back(fmt::format(
          "{}: {} is read as a class, and {} lines have {} different ones; the class is expected in the last column",
          first_.location, Quoted(LabelOf(first_)), lines_, labels_.size()));
    if (pairs_ >= least && seconds_.size() < kMostSeconds && seconds_.size() * 10 <= pairs_)
      warnings.push_back(fmt::format(
          "{}: {} is read as a second text, and {} lines have only {} different ones; of three columns the last is the "
          "class",
          first_pair_.location, Quoted(*first_pair_.second), pairs_, seconds_.size()));
    return warnings;
  }

 private:
  static constexpr std::size_t kMostSeconds = 1 << 16;

  static std::string LabelOf(const ClassifiedText& text) { return fmt::format("{}", fmt::join(text.labels, ",")); }

  LabelsPerText asked_;

  ClassifiedText first_, first_pair_;
  std::set<std::string> labels_, seconds_;
  std::size_t lines_ = 0, pairs_ = 0;
};

}  // namespace

std::vector<std::string> LabelsOfField(std::string_view field, LabelsPerText asked) {
  if (asked == LabelsPerText::one) return {std::string(field)};
  std::vector<std::string> labels;
  while (!field.empty()) {
    const std::size_t comma = std::min(field.find(','), field.size());
    std::string_view label = field.substr(0, comma);
    label.remove_prefix(std::min(label.find_first_not_of(' '), label.size()));
    label = label.substr(0, label.find_last_not_of(' ') + 1);
    labels.emplace_back(label);
    field.remove_prefix(std::min(comma + 1, field.size()));
  }
  return labels;
}

TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                 std::int64_t longest, std::vector<std::string>& labels,
                                 const ClassifiedTextOptions& options) {
  TextExamples read;
  bool any = false;
  const auto add = [&](const ClassifiedText& text) {
    any = any || HasText(text.text);
    TextExample example;
    if (options.asked == LabelsPerText::numbers)
      example.numbers = NumbersOf(text, labels.size());
    else
      for (const std::string& label : text.labels)
        example.labels.push_back(NumberOfLabel(label, labels, options.rule, text.location));
    if (!options.share.Has(text.text)) return;  // the class of an omitted text is still a label
    Encoding encoding = text.second ? tokenizer.EncodePair(text.text, *text.second, {.read_special = false})
                                    : tokenizer.Encode(text.text, {.read_special = false});
    Check(options.truncate || std::ssize(encoding.ids) <= longest,
          "{}: {} tokens, and the model reads at most {}; `truncate` leaves out its end", text.location,
          encoding.ids.size(), longest);
    if (Truncate(encoding, longest, tokenizer.cut_at())) ++read.truncated;
    Check(!encoding.ids.empty(), "{}: the text has no tokens", text.location);
    read.tokens += std::ssize(encoding.ids);
    example.ids = std::move(encoding.ids);
    example.types = std::move(encoding.type_ids);
    read.texts.push_back(std::move(example));
  };
  for (const std::string& path : paths) {
    if (std::optional<Records> records = LabeledRecords(path, options.columns, options.format)) {
      while (const auto record = records->Next()) add(OfRecord(*record, records->columns(), options));
      continue;
    }
    ColumnCheck check(options.asked);
    LineReader lines(path);
    while (const auto line = lines.Next()) {
      if (line->empty()) continue;
      const ClassifiedText text = OfColumns(*line, fmt::format("{}:{}", path, lines.line_number()), options.asked);
      add(text);
      check.Add(text);
    }
    for (std::string& warning : check.Warnings()) read.warnings.push_back(std::move(warning));
  }
  CheckAnyText(any || read.texts.empty(), paths);
  if (options.rule == NewLabels::added && options.asked != LabelsPerText::numbers) {
    const std::vector<std::int32_t> numbers = SortLabels(labels);
    for (TextExample& text : read.texts) Renumber(numbers, text.labels);
  }
  return read;
}

}  // namespace headlight
