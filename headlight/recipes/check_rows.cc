#include "headlight/recipes/check_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/line_input.h"
#include "headlight/data/classified_texts.h"
#include "headlight/data/questions.h"
#include "headlight/data/records.h"
#include "headlight/data/tagged_texts.h"
#include "headlight/data/text_reader.h"

namespace headlight {
namespace {

bool HasMember(const JsonView& record, const std::vector<std::string>& header, const char* name) {
  return record.value().Find(name) != nullptr || std::ranges::find(header, name) != header.end();
}

std::vector<std::string> NamesOf(const JsonView& record) {
  std::vector<std::string> names;
  for (const Json::Member& member : record.Object()) names.push_back(member.name);
  return names;
}

// Returns the task that the names of a record's members indicate.
std::string_view TaskOf(const JsonView& record, const std::vector<std::string>& header, const DataCheck& options) {
  const auto has = [&](const char* name) { return HasMember(record, header, name); };
  if (record["translation"].value().As<Json::Object>() != nullptr) return "pairs";
  if (HasSides(header.empty() ? NamesOf(record) : header, options.pairs)) return "pairs";
  if (has("question") && has("context") && (has("answers") || has("answer") || has("is_impossible")))
    return "questions";
  return has("tokens") && (has("tags") || has("ner_tags")) ? "tags" : "";
}

// Returns the label as text, if it is a string or a number.
std::string LabelText(const JsonView& label) {
  return label.value().As<double>() == nullptr ? LabelOf(label) : fmt::format("{}", label.Number());
}

// Adds the labels of a record. In a table, the column "labels" has labels separated by commas.
void AddLabels(const JsonView& record, const std::vector<std::string>& header, const DataCheck& options, bool needed,
               CheckedRow& row) {
  const TextColumns& columns = options.columns;
  const auto has = [&](const char* name) { return HasMember(record, header, name); };
  const JsonView label = LabelOfRecord(record, columns);
  const bool there = columns.label.empty() ? has("label") || has("labels") : has(columns.label.c_str());
  Check(there || (!needed && columns.label.empty()), "{}: there is no label, but {}; `label_column` names its key",
        record.location(), MembersOf(record));
  if (!there) return;
  if (!label.present()) {
    if (!options.several_labels) row.labels.emplace_back();
  } else if (label.value().As<Json::Array>() != nullptr) {
    for (const JsonView& one : label.Items()) row.labels.push_back(LabelText(one));
  } else if (!header.empty() && (options.several_labels || (columns.label.empty() && !has("label")))) {
    row.labels = LabelsOfField(TextOf(label), LabelsPerText::several);
  } else {
    row.labels.push_back(LabelText(label));
  }
}

// Returns a row with words and their tags.
CheckedRow TaggedRow(const std::vector<std::string>& words, std::vector<std::string> tags, const std::string& place) {
  Check(words.size() == tags.size(), "{}: {} tokens have {} tags", place, words.size(), tags.size());
  return {.texts = {fmt::format("{}", fmt::join(words, " "))}, .labels = std::move(tags)};
}

CheckedRow QuestionRow(AnsweredPassage question) {
  CheckedRow row;
  for (const PassageAnswer& answer : question.answers)
    if (!IsInPassage(answer, question.passage)) row.wrong_answers.push_back(answer.text);
  row.texts = {std::move(question.question), std::move(question.passage)};
  return row;
}

// Returns true if the first line of a .tsv file is a header.
bool FitsHeader(const std::vector<std::string>& header, const DataCheck& options, const std::string& path) {
  if (options.task == "labels") return IsLabeledHeader(header, options.columns, path + ":1");
  const auto may_be = [&](const char* task) { return options.task.empty() || options.task == task; };
  return (may_be("tags") && HasTags(header)) || (may_be("pairs") && HasSides(header, options.pairs)) ||
         (may_be("texts") && HasTexts(header, options.columns, TextsAsked::texts));
}

CheckedRow RowOf(const JsonView& record, const std::vector<std::string>& header, const DataCheck& options) {
  const std::string_view task = options.task.empty() ? TaskOf(record, header, options) : options.task;
  Check(!options.task.empty() || record["data"].value().As<Json::Array>() == nullptr,
        "{}: this is one of SQuAD's files, which `task` questions reads", record.location());
  CheckedRow row;
  if (task == "pairs") {
    PairColumns columns = options.pairs;
    const JsonView translation = record["translation"];
    if (columns.source.empty() && columns.target.empty() && translation.present())
      if (const std::vector<std::string> names = NamesOf(translation); names.size() == 2)
        columns = {names[0], names[1]};
    TextPair pair = PairOf(record, header, columns);
    row = {.texts = {std::move(pair.source), std::move(pair.target)}, .is_pair = true};
  } else if (task == "questions") {
    if (!header.empty()) CheckQuestionColumns(header, record.location());
    row = QuestionRow(QuestionOf(record, !header.empty()));
  } else if (task == "tags") {
    const TaggedRecord tagged = TagsOf(record);
    row = TaggedRow(tagged.words, tagged.tags, record.location());
  } else {
    SourceText texts = TextsOfRecord(record, header, options.columns, TextsAsked::texts);
    row.texts = {std::move(texts.text)};
    if (texts.second) row.texts.push_back(*std::move(texts.second));
    if (task != "texts") AddLabels(record, header, options, task == "labels", row);
  }
  row.has_lines = true;
  return row;
}

}  // namespace

struct RowReader::Source {
  const DataCheck& options;
  std::optional<LineInput> lines = {};  // does not check UTF-8, since invalid UTF-8 is a separate finding
  std::optional<Records> records = {};
  std::deque<AnsweredPassage> questions = {};
  std::string first_line = {};  // the first line of a .tsv file without a header
  bool repeats_first = false;   // true if NextLine has yet to return it
  bool tabbed = false, of_squad = false;
  std::int64_t questions_read = 0;
  std::size_t conll_columns = 0;  // of the first line

  std::optional<std::string_view> NextLine() {
    if (std::exchange(repeats_first, false)) return first_line;
    const auto line = lines->Next();
    if (!line || lines->line_number() > 1) return line;
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return line->substr(line->starts_with(mark) ? mark.size() : 0);
  }

  // Reads a sentence in CoNLL format: the lines up to an empty line.
  std::optional<CheckedRow> NextSentence() {
    std::vector<std::string> words, tags;
    std::int64_t first = 0;
    for (;;) {
      const auto line = NextLine();
      const std::vector<std::string_view> columns = line ? ColumnsOfConll(*line) : std::vector<std::string_view>();
      if (columns.empty() || columns[0] == "-DOCSTART-") {
        if (!line && words.empty()) return std::nullopt;
        if (words.empty()) continue;
        CheckedRow row = TaggedRow(words, std::move(tags), "");
        row.line = first;
        return row;
      }
      if (first == 0) first = lines->line_number();
      Check(columns.size() > 1, "{}:{}: expected a word and its tag, with a space or a tab between", lines->name(),
            lines->line_number());
      if (conll_columns == 0) conll_columns = columns.size();
      Check(columns.size() == conll_columns, "{}:{}: {} columns, and the lines before have {}", lines->name(),
            lines->line_number(), columns.size(), conll_columns);
      words.emplace_back(columns.front());
      tags.emplace_back(columns.back());
    }
  }

  std::optional<CheckedRow> NextTabbed() {
    for (;;) {
      const std::optional<std::string_view> line = NextLine();
      if (!line) return std::nullopt;
      if (line->empty()) continue;
      CheckedRow row{.texts = ColumnsOf(*line), .line = lines->line_number()};
      row.columns = row.texts.size();
      row.is_pair = options.task == "pairs" && row.columns == 2;
      if (options.task == "labels" && row.columns > 1) {
        row.labels =
            LabelsOfField(row.texts.back(), options.several_labels ? LabelsPerText::several : LabelsPerText::one);
        row.texts.pop_back();
      }
      return row;
    }
  }
};

RowReader::RowReader(const std::string& path, const DataCheck& options)
    : source_(std::make_unique<Source>(Source{.options = options})) {
  const std::string& task = options.task;
  const TextFormat format = options.format.value_or(TextFormatOf(path));
  if (task == "questions" && IsSquad(path, options.format)) {
    source_->of_squad = true;
    ForEachOfSquad(path, [&](AnsweredPassage question) { source_->questions.push_back(std::move(question)); });
    return;
  }
  if (task == "questions") {
    source_->records.emplace(QuestionRecords(path, format));
    return;
  }
  if (HasRecords(format)) {
    source_->records.emplace(LineReader(path), format);
    return;
  }
  source_->lines.emplace(ByteInput(path));
  Check(options.format || !HasSequences(path) || !BeginsAsFasta(*source_->lines),
        "{}: text is checked in plain files and in .tsv, .csv, .jsonl and .json, perhaps .gz", path);
  if (format == TextFormat::tsv) {
    const auto line = source_->NextLine();
    std::vector<std::string> header = line ? ColumnsOf(*line) : std::vector<std::string>();
    if (options.format || FitsHeader(header, options, path)) {
      source_->records.emplace(LineReader(*std::exchange(source_->lines, std::nullopt)), std::move(header));
      return;
    }
    Check(!task.empty() || !line,
          "{}: `task` must say whether its columns are pairs, or texts and their label, since the first line names no "
          "such columns",
          path);
    source_->first_line = line.value_or("");
    source_->repeats_first = line.has_value();
  }
  const TextColumns& columns = options.columns;
  Check(columns.text.empty() && columns.text_pair.empty() && columns.label.empty() && options.pairs.source.empty() &&
            options.pairs.target.empty(),
        "{}: its columns have no names; those of .jsonl, .csv and .tsv files do", path);
  source_->tabbed = task == "pairs" || task == "labels";
}

RowReader::RowReader(RowReader&&) noexcept = default;
RowReader::~RowReader() = default;

std::optional<CheckedRow> RowReader::Next() {
  Source& source = *source_;
  if (source.of_squad) {
    if (source.questions.empty()) return std::nullopt;
    CheckedRow row = QuestionRow(std::move(source.questions.front()));
    source.questions.pop_front();
    row.line = ++source.questions_read;
    row.has_lines = true;
    return row;
  }
  if (source.records) {
    const auto record = source.records->Next();
    if (!record) return std::nullopt;
    CheckedRow row = RowOf(*record, source.records->columns(), source.options);
    row.line = source.records->line_number();
    return row;
  }
  if (source.tabbed) return source.NextTabbed();
  if (source.options.task == "tags") return source.NextSentence();
  const auto line = source.NextLine();
  if (!line) return std::nullopt;
  return CheckedRow{.texts = {std::string(*line)}, .line = source.lines->line_number()};
}

bool RowReader::has_records() const { return source_->records || source_->of_squad; }
bool RowReader::has_questions() const { return source_->of_squad; }
bool RowReader::is_tabbed() const { return source_->tabbed; }

}  // namespace headlight
