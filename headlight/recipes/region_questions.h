// Converts questions about images to inputs of models for image regions.
#pragma once

#include <string>
#include <vector>

#include "headlight/data/image_questions.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/recipes/region_training.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/objectives/visual_question_answering.h"

namespace headlight {

/// The parameters of the conversion.
struct QuestionReading {
  const PipelineTokenizer& tokenizer;
  const RegionTextEncoder& model;
  const ImageBoxes& boxes;
  const std::vector<std::string>& labels;  ///< the model's answers
  std::vector<std::string>& kinds;         ///< kinds of questions; new kinds are added
};

/// Returns the questions as token ids, with the regions of their images. Does not set the kinds of the result. Throws
/// Error naming a question that is too long for the model. Throws the same errors as ImageBoxes.
VisualQuestions InNumbers(const ImageQuestions& read, const QuestionReading& reading);

}  // namespace headlight
