// `answer` with a model that reads the regions of a picture, whose boxes a detector finds, or the whole picture.
#pragma once

#include "headlight/cli/answer_pictures.h"

namespace headlight {

// Prints the answer to the question, or to each line of QUESTION<tab>PICTURE, with its probability and a tab before it.
void AnswerRegions(const PictureQuestionOptions& options);

}  // namespace headlight
