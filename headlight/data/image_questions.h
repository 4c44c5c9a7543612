// Questions about images with their answers, for training.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct AnsweredQuestion {
  std::size_t image = 0;  // index in ImageQuestions::images
  std::string question, answer;
  std::string kind;      // of question, such as "how many"; empty if the file does not have it
  std::string location;  // file and line, the prefix of error messages
};

struct ImageQuestions {
  std::vector<std::string> images;  // paths of their files, without duplicates, in order of first appearance
  std::vector<AnsweredQuestion> questions;
};

/// Reads records (HasRecords) with "path" (or "file_name", "image", "file"), "question", "answer" and optionally
/// "kind", or .tsv files with lines of a path, a question and its answer, separated by tabs. Paths are relative to the
/// file's folder. The share is selected by the images' paths as written. Throws Error naming the file and line for
/// other content, for a missing image, and for an empty question or answer.
HEADLIGHT_API ImageQuestions ReadImageQuestions(const std::vector<std::string>& paths, const TextShare& share = {});

/// Baselines without images: whether each of `asked` is answered correctly by the most frequent answer in `known`.
/// `by_question`: to the same question, or if it does not occur, to its kind. `by_kind`: to questions of the same kind,
/// or for an unknown kind, to all. Ties go to the first answer in sort order.
struct BlindAnswers {
  std::vector<bool> by_question, by_kind;  // one element per question in `asked`
};
HEADLIGHT_API BlindAnswers AnswerBlindly(const ImageQuestions& known, const ImageQuestions& asked);

}  // namespace headlight
