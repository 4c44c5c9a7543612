// `answer` with a model that reads images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "headlight/base/compute.h"
#include "headlight/cli/terminal/line_batches.h"

namespace headlight {

struct ImageQuestionOptions : LineOptions {
  std::string folder, question, image;     // the last two together, or both empty: then lines are read
  std::string detector;                    // the folder of what finds boxes; only of AnswerRegions
  std::optional<std::int64_t> max_length;  // only of AnswerImages
  std::optional<Compute> compute;
};

// Prints the answer to the question, or to each line of QUESTION<tab>IMAGE.
void AnswerImages(const ImageQuestionOptions& options);

// For those lines.
inline constexpr std::size_t kQuestionsAhead = 1 << 12;  // bytes: some fifty, whose images are held at once
inline std::pair<std::string, std::string> QuestionAndImage(const LineBatch& batch, std::size_t line) {
  return TwoColumns(batch, line, "a question and an image's path");
}

}  // namespace headlight
