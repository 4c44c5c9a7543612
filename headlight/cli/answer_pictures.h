// `answer` with a model that reads pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "headlight/base/compute.h"
#include "headlight/cli/line_batches.h"

namespace headlight {

struct PictureQuestionOptions : LineOptions {
  std::string folder, question, picture;   // the last two together, or both empty: then lines are read
  std::string detector;                    // the folder of what finds boxes; only of AnswerRegions
  std::optional<std::int64_t> max_length;  // only of AnswerPictures
  std::optional<Compute> compute;
};

// Prints the answer to the question, or to each line of QUESTION<tab>PICTURE.
void AnswerPictures(const PictureQuestionOptions& options);

// For those lines.
inline constexpr std::size_t kQuestionsAhead = 1 << 12;  // bytes: some fifty, whose pictures are held at once
inline std::pair<std::string, std::string> QuestionAndPicture(const LineBatch& batch, std::size_t line) {
  return TwoColumns(batch, line, "a question and a picture's path");
}

}  // namespace headlight
