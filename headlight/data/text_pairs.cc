#include "headlight/data/text_pairs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"
#include "headlight/data/text_columns.h"

namespace headlight {
TextPair PairOf(const JsonView& record, const std::vector<std::string>& header, const PairColumns& columns) {
  const auto text = [&](const std::string& column, TextsAsked asked, const char* option) {
    return TextsOfRecord(record, header, {.text = column, .text_pair = {}, .label = {}}, asked, option).text;
  };
  return {text(columns.source, TextsAsked::source, "source_column"),
          text(columns.target, TextsAsked::target, "target_column"), record.location()};
}

bool HasSides(const std::vector<std::string>& header, const PairColumns& columns) {
  const auto has = [&](const std::string& column, TextsAsked asked) {
    return HasTexts(header, {.text = column, .text_pair = {}, .label = {}}, asked);
  };
  return has(columns.source, TextsAsked::source) && has(columns.target, TextsAsked::target);
}

PairReader::PairReader(const std::string& path, PairColumns columns)
    : path_(path),
      columns_(std::move(columns)),
      records_(RecordsOf(path, [&](const std::vector<std::string>& header) { return HasSides(header, columns_); })) {
  Check(columns_.source.empty() || columns_.source != columns_.target,
        "`source_column` and `target_column` are the same column, {}", Quoted(columns_.source));
  if (records_) return;
  Check(columns_.source.empty() && columns_.target.empty(),
        "{}: it has no header with both columns of the texts, as .csv and .tsv files may have", path);
  lines_.emplace(path);
}

std::optional<TextPair> PairReader::Next() {
  if (records_) {
    const std::optional<JsonView> record = records_->Next();
    if (!record) return std::nullopt;
    return PairOf(*record, records_->columns(), columns_);
  }
  while (const auto line = lines_->Next()) {
    if (line->empty()) continue;
    std::string location = fmt::format("{}:{}", path_, lines_->line_number());
    const std::size_t tab = line->find('\t');
    Check(tab != std::string_view::npos && tab == line->rfind('\t'), "{}: expected a source, a tab and its target",
          location);
    return TextPair{std::string(line->substr(0, tab)), std::string(line->substr(tab + 1)), std::move(location)};
  }
  return std::nullopt;
}

std::vector<TextPair> ReadTextPairs(const std::vector<std::string>& paths, const PairColumns& columns,
                                    const TextShare& share) {
  std::vector<TextPair> pairs;
  for (const std::string& path : paths) {
    PairReader reader(path, columns);
    while (std::optional<TextPair> pair = reader.Next()) pairs.push_back(*std::move(pair));
  }
  for (const TextPair& pair : pairs)
    Check(!pair.source.empty() && !pair.target.empty(), "{}: the {} is empty", pair.location,
          pair.source.empty() ? "source" : "target");
  const auto has_text = [](const TextPair& pair) { return HasText(pair.source) && HasText(pair.target); };
  CheckAnyText(pairs.empty() || std::ranges::any_of(pairs, has_text), paths);
  std::erase_if(pairs, [&](const TextPair& pair) { return !share.Has(pair.source); });
  return pairs;
}

SideReader::SideReader(const std::string& source, const std::string& target, bool of_target, const PairColumns& columns)
    : of_target_(of_target) {
  if (target.empty()) {
    pairs_.emplace(source, columns);
    return;
  }
  Check(columns.source.empty() && columns.target.empty(),
        "{}: its columns have no names; those of one file of pairs, .jsonl, .csv or .tsv, do", source);
  lines_.emplace(of_target ? target : source);
}

std::optional<std::string_view> SideReader::Next() {
  if (lines_) {
    const std::optional<std::string_view> line = lines_->Next();
    number_ += line.has_value();
    return line;
  }
  std::optional<TextPair> pair = pairs_->Next();
  if (!pair) return std::nullopt;
  ++number_;
  text_ = std::move(of_target_ ? pair->target : pair->source);
  std::ranges::replace_if(
      text_, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return text_;
}

}  // namespace headlight
