#include "headlight/data/text_pairs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

// By the first of the names that is there, or by the one that is asked for.
std::string MemberOf(const JsonView& object, const std::string& column, std::initializer_list<const char*> usual) {
  return TextOf(column.empty() ? OneOf(object, usual) : object[column]);
}

TextPair PairOf(const JsonView& record, const PairColumns& columns) {
  const JsonView translation = record["translation"];
  if (translation.value().As<Json::Object>() == nullptr)
    return {MemberOf(record, columns.source, {"source", "document", "article", "text"}),
            MemberOf(record, columns.target, {"target", "summary", "highlights"}), record.place()};
  if (columns.source.empty() || columns.target.empty()) {
    std::string names;
    for (const Json::Member& member : translation.Object()) names += (names.empty() ? "" : ", ") + member.name;
    Fail("{}: `source_column` and `target_column` must say which is the source and which the target: there is {}",
         translation.place(), names.empty() ? "nothing" : Quoted(names));
  }
  return {TextOf(translation[columns.source]), TextOf(translation[columns.target]), record.place()};
}

}  // namespace

PairReader::PairReader(const std::string& path, PairColumns columns) : path_(path), columns_(std::move(columns)) {
  if (HasRecords(path)) {
    records_.emplace(path);
    return;
  }
  Check(columns_.source.empty() && columns_.target.empty(),
        "{}: its columns have no names; those of .jsonl and .csv files do", path);
  lines_.emplace(path);
}

std::optional<TextPair> PairReader::Next() {
  if (records_) {
    const std::optional<JsonView> record = records_->Next();
    if (!record) return std::nullopt;
    return PairOf(*record, columns_);
  }
  while (const auto line = lines_->Next()) {
    if (line->empty()) continue;
    std::string place = fmt::format("{}:{}", path_, lines_->line_number());
    const std::size_t tab = line->find('\t');
    Check(tab != std::string_view::npos && tab == line->rfind('\t'), "{}: expected a source, a tab and its target",
          place);
    return TextPair{std::string(line->substr(0, tab)), std::string(line->substr(tab + 1)), std::move(place)};
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
    Check(!pair.source.empty() && !pair.target.empty(), "{}: the {} is empty", pair.place,
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
        "{}: its columns have no names; those of one file of pairs, .jsonl or .csv, do", source);
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
