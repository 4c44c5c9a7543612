// Training questions about images, with answers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct AnsweredQuestion {
  std::size_t image = 0;  ///< index in ImageQuestions::images
  std::string question, answer;
  std::string kind;      ///< kind of question, such as "how many"; empty if the file has none
  std::string location;  ///< file and line, used as prefix of error messages
};

struct ImageQuestions {
  std::vector<std::string> images;  ///< paths without duplicates, in order of first appearance
  std::vector<AnsweredQuestion> questions;
};

/// Reads records (HasRecords) with "path" (or "file_name", "image", "file"), "question", "answer" and optionally
/// "kind". Also reads .tsv files with lines of a path, a question and its answer, separated by tabs. Paths are relative
/// to the file's folder. `share` selects images by their paths as written. Throws Error naming the file and line for
/// other content, for a missing image, and for an empty question or answer.
HEADLIGHT_API ImageQuestions ReadImageQuestions(const std::vector<std::string>& paths, const TextShare& share = {});

/// The results of two baselines that answer without images. They give the most frequent answer in `known`, and
/// an element is true if this answer is correct. `by_question` counts the answers to the same question, or to questions
/// of the same kind if the question is unknown. `by_kind` counts the answers to questions of the same kind, or to all
/// questions if the kind is unknown. If answers are equally frequent, the first in sort order is used.
struct BlindAnswers {
  std::vector<bool> by_question, by_kind;  ///< one element per question in `asked`
};
HEADLIGHT_API BlindAnswers AnswerBlindly(const ImageQuestions& known, const ImageQuestions& asked);

}  // namespace headlight
