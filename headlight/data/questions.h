// Training questions whose answers are spans of a passage.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/records.h"
#include "headlight/data/text_examples.h"
#include "headlight/text/tokenizers/answer_spans.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// A correct answer and its position in the passage.
struct PassageAnswer {
  std::string text;
  std::int64_t start = 0;  ///< character offset in the passage
  std::string location;    ///< location in the file, for error messages
};

struct AnsweredPassage {
  std::string question, passage;
  std::vector<PassageAnswer> answers;  ///< empty: the passage has no answer
  std::string location;
};

/// Reads the question in a record (ReadQuestions). With `fields`, the record is a row of a table.
HEADLIGHT_API AnsweredPassage QuestionOf(const JsonView& record, bool fields);
/// Throws Error, naming the location, if a table does not have the columns of questions.
HEADLIGHT_API void CheckQuestionColumns(const std::vector<std::string>& header, const std::string& location);
/// Opens records of questions. Throws Error for lines of text, and for a table without the columns.
HEADLIGHT_API Records QuestionRecords(const std::string& path, TextFormat format);
/// Returns true if a file has SQuAD's format: its name ends in .json, and it is neither an array nor lines of records.
/// `format` overrides the file name.
HEADLIGHT_API bool IsSquad(const std::string& path, std::optional<TextFormat> format);
/// Calls body(question) for each question of a file in SQuAD's format.
HEADLIGHT_API void ForEachOfSquad(const std::string& path, const std::function<void(AnsweredPassage)>& body);
/// Returns true if the passage has the answer's text at its start offset.
HEADLIGHT_API bool IsInPassage(const PassageAnswer& answer, std::string_view passage);

/// A question with the data for computing the score of a model's answer.
struct AskedQuestion {
  std::string passage;
  std::vector<std::string> answers;  ///< the correct answers; empty: the passage has no answer
  PassageWindows cut;
};

struct QuestionTexts {
  /// Windows over the passages. The labels of a window are the first and last token of the answer. If the answer is not
  /// in the window, both labels are the window's first token.
  TextExamples texts;
  std::vector<AskedQuestion> questions;  ///< only if `to_be_scored`; the windows in `texts` have the same order
};

/// Reads questions. Files (IsSquad) may have SQuAD's format, version 1.1 or 2.0: {"data": [{"paragraphs": [{"context",
/// "qas": [{"question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}. Other files are JSON lines, CSV
/// or TSV (Records):
/// - {"question", "context", "answers"}; the answers are a list of {"text", "start"} (or "answer_start") or {"text":
///   [...], "answer_start": [...]},
/// - the columns question, context, answer and answer_start.
///
/// Start offsets are in characters (code points) of the context. An empty list means that the context has no answer.
/// Only the first answer is used for training. Passages are split by CutPassage. Throws Error naming line and key for
/// other content, and for an answer that is not at its start offset. `format` overrides the format that the file name
/// indicates.
HEADLIGHT_API QuestionTexts ReadQuestions(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                          std::int64_t longest, bool to_be_scored, const TextShare& share = {},
                                          std::optional<TextFormat> format = {});

}  // namespace headlight
