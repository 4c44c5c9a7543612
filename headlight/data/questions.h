// Questions whose answers are spans of a passage, to learn from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/text_examples.h"
#include "headlight/text/tokenizers/answer_spans.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// What a data set says is right.
struct PassageAnswer {
  std::string text;
  std::int64_t start = 0;  // characters of the passage
  std::string place;       // for errors
};

struct AnsweredPassage {
  std::string question, passage;
  std::vector<PassageAnswer> answers;  // none: the passage does not say
  std::string place;
};

// The question of a record (ReadQuestions). `fields`: it is a row of a table.
HEADLIGHT_API AnsweredPassage QuestionOf(const JsonView& record, bool fields);
// Calls body(question) for each of one of SQuAD's files.
HEADLIGHT_API void ForEachOfSquad(const std::string& path, const std::function<void(AnsweredPassage)>& body);
// True if the passage has the answer's text where it starts.
HEADLIGHT_API bool IsInPassage(const PassageAnswer& answer, std::string_view passage);

// A question as it is needed to score a model's answer.
struct AskedQuestion {
  std::string passage;
  std::vector<std::string> answers;  // any of them is right; none: the passage does not say
  PassageWindows cut;
};

struct QuestionTexts {
  // Windows over the passages, whose `labels` are the tokens that the answer begins and ends with: the first token
  // where the answer is not in the window.
  TextExamples texts;
  std::vector<AskedQuestion> questions;  // where they are to be scored; their windows are the texts, in that order
};

// Files whose names end in .json are SQuAD's, version 1.1 or 2.0: {"data": [{"paragraphs": [{"context", "qas":
// [{"question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}. Others are JSON lines (HasRecords) of
// {"question", "context", "answers"}, these a list of {"text", "start"} (or "answer_start") or {"text": [...],
// "answer_start": [...]}, or CSV with the columns question, context, answer and answer_start. Where an answer starts is
// in characters (code points) of the context; no answer: the context does not say. Of several the first is learned.
// Passages are cut as CutPassage does. Throws Error naming line and key for what is not that, and for an answer that
// does not stand where it says.
HEADLIGHT_API QuestionTexts ReadQuestions(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                          std::int64_t longest, bool to_be_scored, const TextShare& share = {});

}  // namespace headlight
