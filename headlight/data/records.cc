#include "headlight/data/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

Json RowOf(const std::vector<std::string>& columns, std::vector<std::string> fields, const std::string& location) {
  Check(fields.size() == columns.size(), "{}: {} field{}, and the header has {}", location, fields.size(),
        fields.size() == 1 ? "" : "s", columns.size());
  Json::Object object;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!fields[i].empty()) object.push_back({columns[i], std::move(fields[i])});
  return object;
}

// Returns true if the path ends in `ending`, ignoring case. `ending` must be in lower case.
bool EndsWith(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}

std::string_view WithoutGz(std::string_view path) {
  if (EndsWith(path, ".gz")) path.remove_suffix(3);
  return path;
}

}  // namespace

TextFormat TextFormatOf(std::string_view path) {
  path = WithoutGz(path);
  if (EndsWith(path, ".jsonl") || EndsWith(path, ".ndjson") || EndsWith(path, ".json")) return TextFormat::jsonl;
  if (EndsWith(path, ".csv")) return TextFormat::csv;
  return EndsWith(path, ".tsv") ? TextFormat::tsv : TextFormat::text;
}

bool IsJson(std::string_view path) { return EndsWith(WithoutGz(path), ".json"); }

bool HasRecords(TextFormat format) { return format == TextFormat::jsonl || format == TextFormat::csv; }
bool HasRecords(std::string_view path) { return HasRecords(TextFormatOf(path)); }

Records::Records(const std::string& path) : Records(LineReader(path), TextFormatOf(path)) {}

Records::Records(LineReader lines, TextFormat format) {
  Ensure(format != TextFormat::text, "{}: lines of text are read as records", lines.name());
  const std::string name = lines.name();
  if (format == TextFormat::csv) {
    csv_.emplace(std::move(lines));
    columns_ = csv_->Next().value_or(std::vector<std::string>());
    CheckColumns(columns_.empty() ? name : csv_->location());
    return;
  }
  lines_.emplace(std::move(lines));
  if (format == TextFormat::jsonl) return;
  tabs_ = true;
  if (const auto header = lines_->Next()) columns_ = ColumnsOf(*header);
  CheckColumns(name + ":1");
}

Records::Records(LineReader lines, std::vector<std::string> header) : columns_(std::move(header)), tabs_(true) {
  lines_.emplace(std::move(lines));
  CheckColumns(lines_->name() + ":1");
}

void Records::CheckColumns(const std::string& location) const {
  Check(!columns_.empty(), "{}: there is no header, which names the columns", location);
  for (auto column = columns_.begin(); column != columns_.end(); ++column)
    Check(column->empty() || std::find(column + 1, columns_.end(), *column) == columns_.end(),
          "{}: two columns are named {}", location, Quoted(*column));
}

JsonView Records::ObjectOf(std::string_view json) const {
  std::string location = fmt::format("{}:{}", lines_->name(), line_number_);
  Json value = ParseJson(json, location);
  JsonView object(std::move(value), std::move(location));
  object.Object();  // throws Error for other values
  return object;
}

std::optional<JsonView> Records::Next() {
  if (csv_) {
    auto row = csv_->Next();
    if (!row) return std::nullopt;
    line_number_ = csv_->line_number();
    const std::string location = csv_->location();
    return JsonView(RowOf(columns_, *std::move(row), location), location);
  }
  while (!array_) {
    const auto line = lines_->Next();
    if (!line) return std::nullopt;
    line_number_ = lines_->line_number();
    if (line->empty()) continue;
    if (tabs_) {
      std::string location = fmt::format("{}:{}", lines_->name(), line_number_);
      return JsonView(RowOf(columns_, ColumnsOf(*line), location), location);
    }
    if (begun_ || !line->starts_with('[')) {
      begun_ = true;
      return ObjectOf(*line);
    }
    array_.emplace(*line, line_number_);
  }
  const std::optional<std::string> item = array_->Next(*lines_);
  line_number_ = array_->line_number();
  if (!item) return std::nullopt;
  return ObjectOf(*item);
}

std::optional<Records> RecordsOf(const std::string& path,
                                 const std::function<bool(const std::vector<std::string>& line)>& is_header,
                                 std::optional<TextFormat> format) {
  const TextFormat read_as = format.value_or(TextFormatOf(path));
  if (HasRecords(read_as) || format == TextFormat::tsv) return Records(LineReader(path), read_as);
  std::error_code ignored;
  if (read_as != TextFormat::tsv || !std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  LineReader lines(path);
  const auto line = lines.Next();
  std::vector<std::string> header = line ? ColumnsOf(*line) : std::vector<std::string>();
  if (!is_header(header)) return std::nullopt;
  return Records(std::move(lines), std::move(header));
}

bool HasAny(const std::vector<std::string>& header, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) { return std::ranges::find(header, name) != header.end(); });
}

JsonView OneOf(const JsonView& record, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (JsonView member = record[name]; member.present()) return member;
  if (names.size() == 1) return record[*names.begin()];  // throws the error for a missing key on access
  Fail("{}: expected one of {}, and there is {}", record.location(), fmt::join(names, ", "), MembersOf(record));
}

std::string MembersOf(const JsonView& record) {
  std::string found;
  for (const Json::Member& one : record.Object()) found += (found.empty() ? "" : ", ") + one.name;
  return found.empty() ? "nothing" : Quoted(found);
}

bool HasText(std::string_view text) { return text.find_first_not_of(" \t\r\n") != std::string_view::npos; }

void CheckAnyText(bool any, const std::vector<std::string>& paths) {
  Check(any, "{}: there is no text in it", fmt::join(paths, ", "));
}

std::string TextOf(const JsonView& json) {
  std::string text = json.String();
  Check(text.find('\0') == std::string::npos, "{}: it holds a NUL, which no text has", json.location());
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
