// Questions about images, as models read them that see regions: for training and evaluation.
#pragma once

#include <string>
#include <vector>

#include "headlight/data/image_questions.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/recipes/region_training.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/objectives/visual_question_answering.h"

namespace headlight {

/// How questions become numbers.
struct QuestionReading {
  const PipelineTokenizer& tokenizer;
  const RegionTextEncoder& model;
  const ImageBoxes& boxes;
  const std::vector<std::string>& labels;  // the answers that the model knows
  std::vector<std::string>& kinds;         // of questions; new ones are added
};

/// The questions with their images' regions; the set's kinds are left to the caller. Throws Error naming a question
/// that is longer than the model reads, and as ImageBoxes.
VisualQuestions InNumbers(const ImageQuestions& read, const QuestionReading& reading);

}  // namespace headlight
