// `answer` with a model that reads the regions of an image, whose boxes a detector finds, or the whole image.
#pragma once

#include "headlight/cli/commands/answer_images.h"

namespace headlight {

// Prints the answer to the question, or to each line of QUESTION<tab>IMAGE, with its probability and a tab before it.
void AnswerRegions(const ImageQuestionOptions& options);

}  // namespace headlight
