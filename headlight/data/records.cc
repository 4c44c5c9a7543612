#include "headlight/data/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

Json ObjectOf(const std::vector<std::string>& columns, std::vector<std::string> fields, const std::string& place) {
  Check(fields.size() == columns.size(), "{}: {} fields, where the header has {}", place, fields.size(),
        columns.size());
  Json::Object object;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!fields[i].empty()) object.push_back({columns[i], std::move(fields[i])});
  return object;
}

}  // namespace

std::string_view WithoutMark(std::string_view line) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  return line;
}

bool HasRecords(std::string_view path) {
  return IsCsv(path) || path.ends_with(".jsonl") || path.ends_with(".jsonl.gz");
}

Records::Records(const std::string& path)
    : Records(LineReader(path), IsCsv(path) ? RecordFormat::csv : RecordFormat::jsonl) {}

Records::Records(LineReader lines, RecordFormat format) {
  const std::string name = lines.name();
  if (format == RecordFormat::csv) {
    csv_.emplace(std::move(lines));
    columns_ = csv_->Next().value_or(std::vector<std::string>());
    CheckColumns(columns_.empty() ? name : csv_->place());
    return;
  }
  lines_.emplace(std::move(lines));
  if (format == RecordFormat::jsonl) return;
  tabs_ = true;
  if (const auto header = lines_->Next()) columns_ = ColumnsOf(WithoutMark(*header));
  CheckColumns(name + ":1");
}

Records::Records(LineReader lines, std::vector<std::string> header) : columns_(std::move(header)), tabs_(true) {
  lines_.emplace(std::move(lines));
  CheckColumns(lines_->name() + ":1");
}

void Records::CheckColumns(const std::string& place) const {
  Check(!columns_.empty(), "{}: there is no header, which names the columns", place);
  for (auto column = columns_.begin(); column != columns_.end(); ++column)
    Check(column->empty() || std::find(column + 1, columns_.end(), *column) == columns_.end(),
          "{}: two columns are named {}", place, Quoted(*column));
}

std::optional<JsonView> Records::Next() {
  if (csv_) {
    auto row = csv_->Next();
    if (!row) return std::nullopt;
    const std::string place = csv_->place();
    return JsonView(ObjectOf(columns_, *std::move(row), place), place);
  }
  while (const auto line = lines_->Next()) {
    if (line->empty()) continue;
    std::string place = fmt::format("{}:{}", lines_->name(), lines_->line_number());
    if (tabs_) return JsonView(ObjectOf(columns_, ColumnsOf(*line), place), place);
    Json value = ParseJson(lines_->line_number() == 1 ? WithoutMark(*line) : *line, place);
    JsonView object(std::move(value), std::move(place));
    object.Object();  // refuses any other value
    return object;
  }
  return std::nullopt;
}

JsonView OneOf(const JsonView& record, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (JsonView member = record[name]; member.present()) return member;
  if (names.size() == 1) return record[*names.begin()];  // whose reader says that it is missing
  std::string found;
  for (const Json::Member& member : record.Object()) found += (found.empty() ? "" : ", ") + member.name;
  Fail("{}: expected one of {}, and there is {}", record.place(), fmt::join(names, ", "),
       found.empty() ? "nothing" : Quoted(found));
}

bool HasText(std::string_view text) { return text.find_first_not_of(" \t\r\n") != std::string_view::npos; }

void CheckAnyText(bool any, const std::vector<std::string>& paths) {
  Check(any, "{}: there is no text in it", fmt::join(paths, ", "));
}

std::string TextOf(const JsonView& json) {
  std::string text = json.String();
  Check(text.find('\0') == std::string::npos, "{}: it holds a NUL, which no text has", json.place());
  return text;
}

std::vector<std::string> TextsOf(const JsonView& json) {
  std::vector<std::string> texts;
  for (const JsonView& item : json.Items()) texts.push_back(TextOf(item));
  return texts;
}

std::string LabelOf(const JsonView& json) {
  const auto* number = json.value().As<std::int64_t>();
  return number != nullptr ? std::to_string(*number) : TextOf(json);
}

}  // namespace headlight
