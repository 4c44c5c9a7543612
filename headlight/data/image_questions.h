// Questions about images with their answers, to learn from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct AnsweredQuestion {
  std::size_t image = 0;  // its place in ImageQuestions::images
  std::string question, answer;
  std::string kind;   // of question, such as "how many"; empty where the file does not say
  std::string place;  // file and line, to begin an error with
};

struct ImageQuestions {
  std::vector<std::string> images;  // the paths of their files, each once, in the order in which they are named first
  std::vector<AnsweredQuestion> questions;
};

// Of records (HasRecords) of "path" (or "file_name", "image", "file"), "question", "answer" and perhaps "kind", or of
// .tsv files: a path, a question and its answer a line, with tabs between. Paths are relative to the file's folder. The
// share is chosen by the images' paths as they are written. Throws Error naming the file and line for what is not
// that, for an image that is missing, and for a question or an answer that is empty.
HEADLIGHT_API ImageQuestions ReadImageQuestions(const std::vector<std::string>& paths, const TextShare& share = {});

// Which of `asked` are right without their images: with the answer that `known` gives most often to the same question
// (`by_question`; of a question that it does not have, to its kind), and with that which it gives most often to
// questions of the same kind (`by_kind`; of another kind, to all). Of answers that are given equally often, the first
// in order.
struct BlindAnswers {
  std::vector<bool> by_question, by_kind;  // of each of `asked`
};
HEADLIGHT_API BlindAnswers AnswerBlindly(const ImageQuestions& known, const ImageQuestions& asked);

}  // namespace headlight
