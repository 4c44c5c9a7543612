#include "headlight/data/questions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/records.h"
#include "headlight/text/characters.h"

namespace headlight {
namespace {

PassageAnswer AnswerOf(std::string text, const JsonView& start) {
  return {std::move(text), start.Integer(0, kMaxLineBytes), start.location()};
}

// Reads an array of answers or, in SQuAD's flat form, an object of arrays.
std::vector<PassageAnswer> AnswersOf(const JsonView& question) {
  std::vector<PassageAnswer> answers;
  // The answers of an impossible question are plausible but not correct.
  if (question.Get("is_impossible", false).Bool()) return answers;
  const JsonView given = question["answers"];
  if (given.value().As<Json::Array>() != nullptr) {
    for (const JsonView& answer : given.Items()) {
      const JsonView start = answer["answer_start"];
      answers.push_back(AnswerOf(TextOf(answer["text"]), start.present() ? start : answer["start"]));
    }
    return answers;
  }
  std::vector<std::string> texts = TextsOf(given["text"]);
  const std::vector<JsonView> starts = given["answer_start"].Items();
  Check(texts.size() == starts.size(), "{}: {} texts start at {} places", given["answer_start"].location(),
        texts.size(), starts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) answers.push_back(AnswerOf(std::move(texts[i]), starts[i]));
  return answers;
}

// Reads the answer of a question in a row of CSV.
std::vector<PassageAnswer> AnswerOfFields(const JsonView& row) {
  const JsonView text = row["answer"], start = row["answer_start"];
  if (!text.present()) return {};
  const std::string digits = start.String();
  PassageAnswer answer{TextOf(text), 0, start.location()};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), answer.start);
  Check(error == std::errc() && end == digits.data() + digits.size(), "{}: expected an integer, got {}",
        start.location(), Quoted(digits));
  return {answer};
}

// Returns the byte offset of each character of a text, and of the end of the text.
std::vector<std::int32_t> BeginsOfCharacters(std::string_view text) {
  std::vector<std::int32_t> begins;
  ForEachCharacter(
      text, [&](char32_t, std::size_t begin, std::size_t) { begins.push_back(static_cast<std::int32_t>(begin)); });
  begins.push_back(static_cast<std::int32_t>(text.size()));
  return begins;
}

// Returns the byte range of an answer in the passage, or negative offsets if the passage does not contain it.
TextSpan BytesOf(const PassageAnswer& answer, std::string_view passage, const std::vector<std::int32_t>& begins) {
  Check(!answer.text.empty(), "{}: the answer is empty; if a question has no answer, leave the list empty",
        answer.location);
  const auto begin =
      answer.start >= 0 && answer.start < std::ssize(begins) ? begins[static_cast<std::size_t>(answer.start)] : -1;
  if (begin < 0 || !passage.substr(static_cast<std::size_t>(begin)).starts_with(answer.text)) return {-1, -1};
  return {begin, begin + static_cast<std::int32_t>(answer.text.size())};
}

// A range of tokens. Both indices are negative if the range is empty.
struct TokenRange {
  std::int32_t first = -1, last = -1;
};

// Returns the tokens of the passage that overlap the bytes.
TokenRange TokensOf(const Encoding& encoding, TextSpan bytes) {
  TokenRange range;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.texts[i] != 1 || encoding.spans[i].end <= bytes.begin || encoding.spans[i].begin >= bytes.end)
      continue;
    range.last = static_cast<std::int32_t>(i);
    if (range.first < 0) range.first = range.last;
  }
  return range;
}

// Returns the labels of a window: the first and last token of the answer.
std::vector<std::int32_t> LabelsOf(const Window& window, TokenRange answer) {
  if (answer.first >= window.begin && answer.last < window.begin + window.count)
    return {window.first + answer.first - window.begin, window.first + answer.last - window.begin};
  if (HasNoAnswerToken(window)) return {0, 0};
  return {-1, -1};
}

}  // namespace

AnsweredPassage QuestionOf(const JsonView& record, bool fields) {
  return {TextOf(record["question"]), TextOf(record["context"]), fields ? AnswerOfFields(record) : AnswersOf(record),
          record.location()};
}

void CheckQuestionColumns(const std::vector<std::string>& header, const std::string& location) {
  for (const char* column : {"question", "context", "answer", "answer_start"})
    if (!HasAny(header, {column}))
      Fail("{}: there is no column {}, but {}", location, column, Quoted(fmt::format("{}", fmt::join(header, ", "))));
}

Records QuestionRecords(const std::string& path, TextFormat format) {
  Check(format != TextFormat::text,
        "{}: questions are in .json, .jsonl, .csv or .tsv files; `format` names jsonl, csv or tsv", path);
  Records records(LineReader(path), format);
  if (!records.columns().empty()) CheckQuestionColumns(records.columns(), path + ":1");
  return records;
}

bool IsSquad(const std::string& path, std::optional<TextFormat> format) {
  if (format || !IsJson(path)) return false;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return true;  // a pipe cannot be read twice
  try {
    LineReader lines(path);
    std::optional<std::string_view> line;
    do line = lines.Next();
    while (line && line->empty());
    if (line && line->starts_with('[')) return false;
    if (!line) return true;
    const Json record = ParseJson(*line, path);
    const Json* const data = record.Find("data");
    return data != nullptr && data->As<Json::Array>() != nullptr;
  } catch (const Error&) {
    return true;  // the object has several lines, or a line that is too long for a record
  }
}

void ForEachOfSquad(const std::string& path, const std::function<void(AnsweredPassage)>& body) {
  const JsonView file = ReadJson(path);
  for (const JsonView& article : file["data"].Items())
    for (const JsonView& paragraph : article["paragraphs"].Items()) {
      const std::string passage = TextOf(paragraph["context"]);
      for (const JsonView& question : paragraph["qas"].Items())
        body({TextOf(question["question"]), passage, AnswersOf(question), question.location()});
    }
}

bool IsInPassage(const PassageAnswer& answer, std::string_view passage) {
  return BytesOf(answer, passage, BeginsOfCharacters(passage)).begin >= 0;
}

QuestionTexts ReadQuestions(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                            std::int64_t longest, bool to_be_scored, const TextShare& share,
                            std::optional<TextFormat> format) {
  QuestionTexts read;
  const auto add = [&](const AnsweredPassage& question) {
    const std::string& passage = question.passage;
    if (!share.Has(passage)) return;
    const std::vector<PassageAnswer>& answers = question.answers;
    PassageWindows cut = CutPassage(tokenizer, question.question, passage, std::min(longest, kLongestAnswerWindow),
                                    OverlapOf(std::min(longest, kLongestAnswerWindow)), question.location);
    const std::vector<std::int32_t> begins = BeginsOfCharacters(passage);
    TokenRange tokens;
    for (const PassageAnswer& answer : answers) {
      const TextSpan bytes = BytesOf(answer, passage, begins);
      Check(bytes.begin >= 0, "{}: the answer's text is not at character {} of the context", answer.location,
            answer.start);
      if (&answer != &answers.front()) continue;
      tokens = TokensOf(cut.encoding, bytes);
      Check(tokens.first >= 0, "{}: the answer has no tokens", answer.location);
    }
    if (cut.windows.size() > 1) ++read.texts.cut;
    for (const Window& window : cut.windows) {
      const std::vector<std::int32_t> labels = LabelsOf(window, tokens);
      if (!to_be_scored && labels[0] < 0) continue;
      read.texts.tokens += std::ssize(window.encoding.ids);
      read.texts.texts.push_back(
          {.ids = window.encoding.ids, .types = window.encoding.type_ids, .words = {}, .labels = labels});
    }
    if (!to_be_scored) return;
    AskedQuestion& asked = read.questions.emplace_back(AskedQuestion{passage, {}, std::move(cut)});
    for (const PassageAnswer& answer : answers) asked.answers.push_back(answer.text);
  };
  for (const std::string& path : paths) {
    if (IsSquad(path, format)) {
      ForEachOfSquad(path, add);
      continue;
    }
    Records records = QuestionRecords(path, format.value_or(TextFormatOf(path)));
    while (const auto record = records.Next()) add(QuestionOf(*record, !records.columns().empty()));
  }
  return read;
}

}  // namespace headlight
