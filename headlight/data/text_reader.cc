#include "headlight/data/text_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"

namespace headlight {
namespace {

// The names that data sets give to two texts of a pair.
constexpr std::pair<const char*, const char*> kPairs[] = {
    {"text", "text_pair"},   {"sentence1", "sentence2"}, {"premise", "hypothesis"}, {"question1", "question2"},
    {"question", "context"}, {"question", "passage"},    {"question", "sentence"},  {"question", "image"}};

TextFormat FormatOf(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".jsonl")) return TextFormat::jsonl;
  if (path.ends_with(".csv")) return TextFormat::csv;
  return path.ends_with(".tsv") ? TextFormat::tsv : TextFormat::text;
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// True if these columns hold the texts of `source`.
bool Fits(const std::vector<std::string>& columns, const TextSource& source) {
  if (!source.columns.empty())
    return std::ranges::all_of(source.columns, [&](const std::string& one) { return Has(columns, one); });
  return Has(columns, "text") || (source.pairs && std::ranges::any_of(kPairs, [&](const auto& pair) {
                                    return Has(columns, pair.first) && Has(columns, pair.second);
                                  }));
}

std::string Wanted(const TextSource& source) {
  return source.columns.empty() ? "\"text\"" : fmt::format("\"{}\"", fmt::join(source.columns, "\", \""));
}

}  // namespace

bool HasSequences(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".fasta") || path.ends_with(".fa") || path.ends_with(".faa");
}

void Describe(OptionTable& table, TextSource& source) {
  AddChoice<TextFormat>(
      table, "--format", source.format,
      {{"text", TextFormat::text}, {"jsonl", TextFormat::jsonl}, {"csv", TextFormat::csv}, {"tsv", TextFormat::tsv}},
      "Format of the texts: a text per line, JSON lines, or CSV or TSV with a header [by the "
      "file's name: .jsonl, .csv, .tsv, else text]");
  if (source.pairs) {
    table
        .Add("--text-column", source.columns,
             "Key or column of the text in .jsonl, .csv or .tsv; given twice, of the two texts [text, or the usual "
             "names of two, such as question and context]")
        .Check(NotEmpty())
        .Type("NAME")
        .OneAtATime();
    return;
  }
  table
      .AddFunction(
          "--text-column", [&source](const std::string& name) { source.columns = {name}; },
          "Key or column of the text in .jsonl, .csv or .tsv [text]")
      .HasValueIf([&source] { return !source.columns.empty(); })
      .Check(NotEmpty())
      .Type("NAME");
}

TextReader::TextReader(const std::string& path, TextSource source) : source_(std::move(source)) {
  const std::size_t most = source_.pairs ? 2 : 1;
  Check(source_.columns.size() <= most, "`text_column`: {} columns are named, and a record has {}",
        source_.columns.size(), source_.pairs ? "at most two texts" : "one text");
  const TextFormat format = source_.format.value_or(FormatOf(path));
  const bool by_name = !source_.format && HasSequences(path);
  const bool may_be_fasta = by_name || (source_.proteins && !source_.format);
  LineInput input(ByteInput(path), may_be_fasta ? LineInput::Marks::skipped : LineInput::Marks::kept);
  name_ = input.name();
  if (by_name || (may_be_fasta && (input.BeginsWith(">") || input.BeginsWith("\xEF\xBB\xBF>")))) {
    Check(source_.columns.empty(), "`text_column`: {} is read as FASTA, which has no columns", name_);
    sequences_.emplace(std::move(input), source_.mask);
    return;
  }
  LineReader lines(std::move(input));
  if (format == TextFormat::text) {
    Check(source_.columns.empty(),
          "`text_column`: {} is read as lines of text, which have no columns; `format` names another format", name_);
    lines_.emplace(std::move(lines));
    return;
  }
  if (format == TextFormat::tsv && source_.pairs && !source_.format && source_.columns.empty()) {
    // Lines of two texts with a tab between them are often called .tsv.
    const auto line = lines.Next();
    std::vector<std::string> header;
    if (line) header = ColumnsOf(WithoutMark(*line));
    if (!Fits(header, source_)) {
      if (line) first_line_ = *line;
      lines_.emplace(std::move(lines));
      return;
    }
    records_.emplace(std::move(lines), std::move(header));
  } else {
    records_.emplace(std::move(lines), format == TextFormat::jsonl ? RecordFormat::jsonl
                                       : format == TextFormat::csv ? RecordFormat::csv
                                                                   : RecordFormat::tsv);
  }
  if (format == TextFormat::jsonl) return;
  Check(Fits(records_->columns(), source_),
        "{}:1: the header has no column {}, but {}; `text_column` names the column of the text", name_, Wanted(source_),
        Quoted(fmt::format("{}", fmt::join(records_->columns(), ", "))));
}

std::optional<SourceText> TextReader::Next() {
  ++count_;  // before anything is thrown
  const auto ended = [&] {
    --count_;
    return std::nullopt;
  };
  if (lines_) {
    if (first_line_) return SourceText{*std::exchange(first_line_, std::nullopt)};
    const auto line = lines_->Next();
    if (!line) return ended();
    return SourceText{std::string(*line)};
  }
  if (sequences_) {
    std::optional<ProteinSequence> sequence = sequences_->Next();
    if (!sequence) return ended();
    return SourceText{std::move(sequence->letters)};
  }
  const std::optional<JsonView> record = records_->Next();
  if (!record) return ended();
  return TextsOf(*record);
}

SourceText TextReader::TextsOf(const JsonView& record) const {
  if (!source_.columns.empty()) {
    SourceText texts{TextOfColumn(record, source_.columns[0])};
    if (source_.columns.size() > 1) texts.second = TextOfColumn(record, source_.columns[1]);
    return texts;
  }
  if (source_.pairs)
    for (const auto& [first, second] : kPairs)
      if (record[first].present() && record[second].present()) return {TextOf(record[first]), TextOf(record[second])};
  return {TextOfColumn(record, "text")};
}

std::string TextReader::TextOfColumn(const JsonView& record, const std::string& column) const {
  const JsonView member = record[column];
  if (member.present()) return TextOf(member);
  if (Has(records_->columns(), column)) return "";  // an empty field
  std::string found;
  for (const Json::Member& one : record.Object()) found += (found.empty() ? "" : ", ") + one.name;
  Fail("{}: key {}: there is none, but {}; `text_column` names the key of the text", record.place(), Quoted(column),
       found.empty() ? "nothing" : Quoted(found));
}

const char* TextReader::unit() const { return lines_ ? "line" : records_ ? "record" : "sequence"; }

std::int64_t TextReader::count() const { return lines_ ? lines_->line_number() - (first_line_ ? 1 : 0) : count_; }

double TextReader::share() const {
  return lines_ ? lines_->share() : records_ ? records_->share() : sequences_->share();
}

}  // namespace headlight
