// `answer` with a model that reads the regions of a picture, whose boxes a detector finds.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/compute.h"
#include "headlight/cli/line_batches.h"

namespace headlight {

struct AnswerRegionsOptions : LineOptions {
  std::string folder, question, picture;  // the last two together, or both empty: then lines are read
  std::string detector;                   // the folder of what finds the boxes
  std::optional<Compute> compute;
};

// Prints the answer to the question, or to each line of QUESTION<tab>PICTURE, with its probability and a tab before it.
void AnswerRegions(const AnswerRegionsOptions& options);

}  // namespace headlight
