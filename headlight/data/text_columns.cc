#include "headlight/data/text_columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

// The names of the two texts of a pair in common datasets.
constexpr std::pair<const char*, const char*> kPairs[] = {
    {"text", "text_pair"},   {"sentence1", "sentence2"}, {"premise", "hypothesis"}, {"question1", "question2"},
    {"question", "context"}, {"question", "passage"},    {"question", "sentence"},  {"question", "image"}};

bool IsIn(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns the columns that contain the texts. If no column is found, the first name is empty.
template <typename Has>
TextColumns FindColumns(const TextColumns& columns, TextsAsked asked, const Has& has) {
  if (!columns.text.empty()) return columns;
  if (!columns.text_pair.empty()) return {.text = "text", .text_pair = columns.text_pair, .label = {}};
  if (asked == TextsAsked::texts)
    for (const auto& [first, second] : kPairs)
      if (has(first) && has(second)) return {.text = first, .text_pair = second, .label = {}};
  for (const char* name : UsualNames(asked))
    if (has(name)) return {.text = name, .text_pair = {}, .label = {}};
  return {};
}

std::string TextOfColumn(const JsonView& record, const std::vector<std::string>& header, const std::string& column,
                         const char* option) {
  const JsonView member = record[column];
  if (member.present()) return TextOf(member);
  if (IsIn(header, column)) return "";  // an empty field
  Check(record.value().Find(column) == nullptr, "{}: it is null, which is no text", member.location());
  Fail("{}: key {}: there is none, but {}; `{}` names the key of the text", record.location(), Quoted(column),
       MembersOf(record), option);
}

}  // namespace

Option& AddColumn(OptionTable& table, const char* name, std::string& column, std::string description) {
  std::string option(name + 2);
  std::ranges::replace(option, '-', '_');
  const auto set = [&column, option](const std::vector<std::string>& names) {
    Check(names.size() == 1, "`{}` names one column, and {} are given: {}", option, names.size(),
          fmt::join(names, ", "));
    column = names.front();
  };
  return table.Add(name, OptionTarget(set, OptionTarget::kMany), NotEmpty(), std::move(description))
      .OneAtATime()
      .HasValueIf([&column] { return !column.empty(); })
      .Type("NAME");
}

namespace {

void AddColumnOf(OptionTable& table, const char* name, std::string& column, const char* group, const char* text,
                 const char* usual) {
  AddColumn(table, name, column, fmt::format("Column of the {} in .jsonl, .csv and .tsv files", text))
      .Default(usual)
      .Group(group);
}

}  // namespace

void AddTextColumns(OptionTable& table, TextColumns& columns, const char* group) {
  AddColumnOf(table, "--text-column", columns.text, group, "text", "text, or a name that GLUE's tasks have");
  AddPairAndLabelColumns(table, columns, group);
}

void AddPairAndLabelColumns(OptionTable& table, TextColumns& columns, const char* group) {
  AddColumnOf(table, "--text-pair-column", columns.text_pair, group, "second text",
              "text_pair, or a name that GLUE's tasks have");
  AddColumnOf(table, "--label-column", columns.label, group, "class, classes or number", "label or labels");
}

std::initializer_list<const char*> UsualNames(TextsAsked asked) {
  static constexpr std::initializer_list<const char*> text = {"text", "sentence"},
                                                      one = {"text",     "sentence", "sentence1",
                                                             "question", "premise",  "question1"},
                                                      source = {"source", "document", "article", "text"},
                                                      target = {"target", "summary", "highlights"},
                                                      reference = {"target", "summary", "highlights", "text"};
  switch (asked) {
    case TextsAsked::text:
      return text;
    case TextsAsked::texts:
      return one;
    case TextsAsked::source:
      return source;
    case TextsAsked::target:
      return target;
    case TextsAsked::reference:
      return reference;
  }
  return text;
}

bool HasTexts(const std::vector<std::string>& header, const TextColumns& columns, TextsAsked asked) {
  const TextColumns found = FindColumns(columns, asked, [&](const char* name) { return IsIn(header, name); });
  return !found.text.empty() && IsIn(header, found.text) && (found.text_pair.empty() || IsIn(header, found.text_pair));
}

SourceText TextsOfRecord(const JsonView& record, const std::vector<std::string>& header, const TextColumns& columns,
                         TextsAsked asked, const char* option) {
  if (const JsonView translation = record["translation"]; translation.value().As<Json::Object>() != nullptr) {
    Check(!columns.text.empty(), "{}: `{}` must name the language to read: there is {}", translation.location(), option,
          MembersOf(translation));
    return {TextOf(translation[columns.text])};
  }
  const TextColumns found = FindColumns(
      columns, asked, [&](const char* name) { return record.value().Find(name) != nullptr || IsIn(header, name); });
  Check(!found.text.empty(), "{}: expected {}, and there is {}; `{}` names the key of the text", record.location(),
        fmt::join(UsualNames(asked), " or "), MembersOf(record), option);
  SourceText texts{TextOfColumn(record, header, found.text, option)};
  if (found.text_pair.empty()) return texts;
  texts.second = TextOfColumn(record, header, found.text_pair, "text_pair_column");
  // In a table with single texts and pairs, an empty second field means that the row has a single text.
  if (columns.text_pair.empty() && texts.second->empty() && !header.empty()) texts.second.reset();
  return texts;
}

JsonView LabelOfRecord(const JsonView& record, const TextColumns& columns) {
  if (!columns.label.empty()) return record[columns.label];
  const JsonView label = record["label"], labels = record["labels"];
  return labels.present() && !label.present() ? labels : label;
}

bool IsLabeledHeader(const std::vector<std::string>& header, const TextColumns& columns, const std::string& location) {
  const bool labeled =
      columns.label.empty() ? IsIn(header, "label") || IsIn(header, "labels") : IsIn(header, columns.label);
  const TextColumns found =
      FindColumns(columns, TextsAsked::texts, [&](const char* name) { return IsIn(header, name); });
  Check(labeled || !columns.label.empty() || found.text_pair.empty() || !IsIn(header, found.text_pair),
        "{}: the header has no column of the label, but {}; `label_column` names it", location,
        Quoted(fmt::format("{}", fmt::join(header, ", "))));
  return labeled && HasTexts(header, columns, TextsAsked::texts);
}

std::optional<Records> LabeledRecords(const std::string& path, const TextColumns& columns,
                                      std::optional<TextFormat> format) {
  std::optional<Records> records = RecordsOf(
      path, [&](const std::vector<std::string>& header) { return IsLabeledHeader(header, columns, path + ":1"); },
      format);
  Check(records || (columns.text.empty() && columns.text_pair.empty() && columns.label.empty()),
        "{}: it has no header with all columns of the texts and the label, as .csv and .tsv files may have", path);
  return records;
}

}  // namespace headlight
