#include "headlight/data/text_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"

namespace headlight {
namespace {

// Throws Error for a file whose header has no column with the texts.
[[noreturn]] void FailHeader(const std::string& name, const std::vector<std::string>& header,
                             const TextSource& source) {
  const TextColumns& columns = source.columns;
  std::string wanted =
      columns.text.empty() ? fmt::format("{}", fmt::join(UsualNames(source.asked), " or ")) : columns.text;
  if (!columns.text_pair.empty()) wanted += " and " + columns.text_pair;
  Fail(
      "{}:1: expected {}, and the header has {}; `text_column` names the column of the text, and `format` text "
      "reads whole lines",
      name, wanted, Quoted(fmt::format("{}", fmt::join(header, ", "))));
}

}  // namespace

bool HasSequences(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".fasta") || path.ends_with(".fa") || path.ends_with(".faa");
}

bool BeginsAsFasta(LineInput& input) { return input.BeginsWith(">") || input.BeginsWith("\xEF\xBB\xBF>"); }

void AddTextFormat(OptionTable& table, std::optional<TextFormat>& format) {
  AddChoice<TextFormat>(
      table, "--format", format,
      {{"text", TextFormat::text}, {"jsonl", TextFormat::jsonl}, {"csv", TextFormat::csv}, {"tsv", TextFormat::tsv}},
      "Format of the texts: a text per line, JSON lines, or CSV or TSV with a header [by the "
      "file's name: .jsonl, .ndjson or .json, .csv, .tsv, else text]");
}

void Describe(OptionTable& table, TextSource& source) {
  AddTextFormat(table, source.format);
  const bool pairs = source.asked == TextsAsked::texts;
  const auto add = [&](const char* name, std::string& column, const char* what, const std::string& usual) {
    AddColumn(table, name, column, fmt::format("Key or column of {} in .jsonl, .csv or .tsv [{}]", what, usual));
  };
  add("--text-column", source.columns.text, "the text",
      pairs ? std::string("text, or the usual names of two, such as question and context")
            : fmt::format("{}", fmt::join(UsualNames(source.asked), " or ")));
  if (!pairs) return;
  add("--text-pair-column", source.columns.text_pair, "the second text", "the other name of two");
  table.Get("--format")
      .Describe(
          "Format of the texts: a text per line, or two divided by a tab; JSON lines; or CSV or TSV with a header "
          "[by the file's name: .jsonl, .ndjson or .json, .csv, .tsv (if its first line is a header), else text]");
}

TextReader::TextReader(const std::string& path, TextSource source) : source_(std::move(source)) {
  const TextFormat format = source_.format.value_or(TextFormatOf(path));
  const bool columns = !source_.columns.text.empty() || !source_.columns.text_pair.empty();
  const bool by_name = !source_.format && HasSequences(path);
  const bool may_be_fasta = by_name || (source_.proteins && !source_.format);
  LineInput input(ByteInput(path), may_be_fasta ? LineInput::Marks::skipped : LineInput::Marks::kept);
  name_ = input.name();
  if (may_be_fasta && ((by_name && source_.proteins) || BeginsAsFasta(input))) {
    Check(!columns, "`text_column`: {} is read as FASTA, which has no columns", name_);
    sequences_.emplace(std::move(input), source_.mask);
    return;
  }
  LineReader lines(std::move(input));
  if (format == TextFormat::text) {
    Check(!columns, "`text_column`: {} is read as lines of text, which have no columns; `format` names another format",
          name_);
    lines_.emplace(std::move(lines));
    return;
  }
  if (format == TextFormat::tsv && source_.asked == TextsAsked::texts && !source_.format && !columns) {
    // The header is optional, since files with two texts per line, separated by tabs, are often named .tsv.
    const auto line = lines.Next();
    std::vector<std::string> header;
    if (line) header = ColumnsOf(*line);
    if (!HasTexts(header, source_.columns, source_.asked)) {
      if (line) first_line_ = *line;
      lines_.emplace(std::move(lines));
      return;
    }
    records_.emplace(std::move(lines), std::move(header));
  } else {
    records_.emplace(std::move(lines), format);
  }
  if (format != TextFormat::jsonl && !HasTexts(records_->columns(), source_.columns, source_.asked))
    FailHeader(name_, records_->columns(), source_);
}

std::optional<SourceText> TextReader::Next() {
  ++count_;  // incremented first, so that texts with errors count
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
  return TextsOfRecord(*record, records_->columns(), source_.columns, source_.asked);
}

const char* TextReader::unit() const { return lines_ ? "line" : records_ ? "record" : "sequence"; }

std::int64_t TextReader::count() const { return lines_ ? lines_->line_number() - (first_line_ ? 1 : 0) : count_; }

double TextReader::share() const {
  return lines_ ? lines_->share() : records_ ? records_->share() : sequences_->share();
}

std::vector<std::string> AllTexts(const std::string& path, const TextSource& source) {
  std::vector<std::string> texts;
  TextReader reader(path, source);
  while (std::optional<SourceText> text = reader.Next()) texts.push_back(std::move(text->text));
  return texts;
}

}  // namespace headlight
