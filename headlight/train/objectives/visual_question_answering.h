// Answers to questions about images: one of the answers that the model knows (Antol et al., "VQA: Visual Question
// Answering", 2015; Lu et al., "ViLBERT", 2019, section 3.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/train/objectives/region_pairs.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct VisualQuestion {
  std::vector<std::int32_t> ids, types;  // [tokens]
  std::size_t image = 0;                 // of VisualQuestions::images
  std::int32_t answer = 0;               // by number; -1: none that the model knows, which is never right
  std::size_t kind = 0;                  // of VisualQuestions::kinds
};

struct VisualQuestions {
  std::vector<ImageRegions> images;
  std::vector<VisualQuestion> questions;
  std::vector<std::string> kinds;  // the names of kinds of questions, of which each has a score
};

// The negative log-probability of the right answer. A validation's score is the accuracy in per cent, beside it that of
// each kind, called "accuracy_KIND", with _ for all but letters and digits. Model and sets must outlive the task;
// BatchOptions::batch_size is in questions. Throws Error for a model without a head for answers, for a question that it
// cannot read and for regions of other widths.
HEADLIGHT_API TrainingTask VisualQuestionTask(RegionTextEncoder& model, const VisualQuestions& train,
                                              const VisualQuestions& valid, const BatchOptions& batches);

HEADLIGHT_API ValidationReport ValidateVisualQuestions(const RegionTextEncoder& model, const VisualQuestions& valid,
                                                       const PassWatch& watch = {});

}  // namespace headlight
