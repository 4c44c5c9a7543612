// `answer` with a model that reads pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headlight/base/compute.h"
#include "headlight/cli/line_batches.h"

namespace headlight {

struct AnswerPicturesOptions : LineOptions {
  std::string folder, question, picture;  // the last two together, or both empty: then lines are read
  std::optional<std::int64_t> max_length;
  std::optional<Compute> compute;
};

// Prints the answer to the question, or to each line of QUESTION<tab>PICTURE.
void AnswerPictures(const AnswerPicturesOptions& options);

}  // namespace headlight
