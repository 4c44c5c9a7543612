// Questions about pictures with their answers, to learn from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct AnsweredQuestion {
  std::size_t picture = 0;  // its place in PictureQuestions::pictures
  std::string question, answer;
  std::string kind;   // of question, such as "how many"; empty where the file does not say
  std::string place;  // file and line, to begin an error with
};

struct PictureQuestions {
  std::vector<std::string> pictures;  // the paths of their files, each once, in the order in which they are named first
  std::vector<AnsweredQuestion> questions;
};

// Of records (HasRecords) of "path" (or "file_name", "image", "file"), "question", "answer" and perhaps "kind", or of
// .tsv files: a path, a question and its answer a line, with tabs between. Paths are relative to the file's folder. The
// share is chosen by the pictures' paths as they are written. Throws Error naming the file and line for what is not
// that, for a picture that is missing, and for a question or an answer that is empty.
HEADLIGHT_API PictureQuestions ReadPictureQuestions(const std::vector<std::string>& paths, const TextShare& share = {});

}  // namespace headlight
