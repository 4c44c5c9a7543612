#include "headlight/data/questions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/json_lines.h"
#include "headlight/text/characters.h"

namespace headlight {
namespace {

struct RightAnswer {
  std::string text;
  std::int64_t start = 0;  // characters
  std::string place;       // for errors
};

RightAnswer AnswerOf(std::string text, const JsonView& start) {
  return {std::move(text), start.Integer(0, kMaxLineBytes), start.place()};
}

// An array of answers, or, as SQuAD is published, an object of arrays.
std::vector<RightAnswer> AnswersOf(const JsonView& given) {
  std::vector<RightAnswer> answers;
  if (given.value().As<Json::Array>() != nullptr) {
    for (const JsonView& answer : given.Items()) {
      const JsonView start = answer["answer_start"];
      answers.push_back(AnswerOf(TextOf(answer["text"]), start.present() ? start : answer["start"]));
    }
    return answers;
  }
  std::vector<std::string> texts = TextsOf(given["text"]);
  const std::vector<JsonView> starts = given["answer_start"].Items();
  Check(texts.size() == starts.size(), "{}: {} texts start at {} places", given["answer_start"].place(), texts.size(),
        starts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) answers.push_back(AnswerOf(std::move(texts[i]), starts[i]));
  return answers;
}

// Where each character of a text begins, and the text ends.
std::vector<std::int32_t> BeginsOfCharacters(std::string_view text) {
  std::vector<std::int32_t> begins;
  ForEachCharacter(
      text, [&](char32_t, std::size_t begin, std::size_t) { begins.push_back(static_cast<std::int32_t>(begin)); });
  begins.push_back(static_cast<std::int32_t>(text.size()));
  return begins;
}

// The bytes of the passage that an answer stands at.
TextSpan BytesOf(const RightAnswer& answer, std::string_view passage, const std::vector<std::int32_t>& begins) {
  Check(!answer.text.empty(), "{}: the answer is empty; no answer at all says that there is none", answer.place);
  const auto begin = answer.start < std::ssize(begins) ? begins[static_cast<std::size_t>(answer.start)] : -1;
  Check(begin >= 0 && passage.substr(static_cast<std::size_t>(begin)).starts_with(answer.text),
        "{}: the answer's text does not stand at character {} of the context", answer.place, answer.start);
  return {begin, begin + static_cast<std::int32_t>(answer.text.size())};
}

// Tokens of an encoding; none: both negative.
struct TokenRange {
  std::int32_t first = -1, last = -1;
};

// Those of the passage that stand for some of its bytes.
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

// The labels of a window.
std::vector<std::int32_t> LabelsOf(const Window& window, TokenRange answer) {
  if (answer.first >= window.begin && answer.last < window.begin + window.count)
    return {window.first + answer.first - window.begin, window.first + answer.last - window.begin};
  if (HasNoAnswerToken(window)) return {0, 0};
  return {-1, -1};
}

}  // namespace

QuestionTexts ReadQuestions(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                            std::int64_t longest, bool to_be_scored) {
  QuestionTexts read;
  const auto add = [&](const JsonView& line) {
    const std::string question = TextOf(line["question"]), passage = TextOf(line["context"]);
    const std::vector<RightAnswer> answers = AnswersOf(line["answers"]);
    PassageWindows cut = CutPassage(tokenizer, question, passage, longest, kAnswerOverlap, line.place());
    const std::vector<std::int32_t> begins = BeginsOfCharacters(passage);
    TokenRange tokens;
    for (const RightAnswer& answer : answers) {
      const TextSpan bytes = BytesOf(answer, passage, begins);
      if (&answer != &answers.front()) continue;
      tokens = TokensOf(cut.encoding, bytes);
      Check(tokens.first >= 0, "{}: the answer has no tokens", answer.place);
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
    for (const RightAnswer& answer : answers) asked.answers.push_back(answer.text);
  };
  for (const std::string& path : paths) {
    Check(IsJsonLines(path), "{}: questions are read from JSON lines, whose names end in .jsonl or .jsonl.gz", path);
    JsonLines lines(path);
    while (const auto line = lines.Next()) add(*line);
  }
  return read;
}

}  // namespace headlight
