// Visual question answering as classification over a fixed set of answers (Antol et al., "VQA: Visual Question
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
  std::size_t image = 0;                 // index in VisualQuestions::images
  std::int32_t answer = 0;  // index of the answer; -1: not among the model's answers, which always counts as wrong
  std::size_t kind = 0;     // index in VisualQuestions::kinds
};

struct VisualQuestions {
  std::vector<ImageRegions> images;
  std::vector<VisualQuestion> questions;
  std::vector<std::string> kinds;  // kinds of questions; each kind has its own score
};

/// Trains a classifier of answers. The loss is the negative log-probability of the correct answer. A validation's score
/// is the accuracy in per cent. The accuracy of each kind is reported as "accuracy_KIND", in which characters other
/// than letters and digits are replaced by _. The model and the sets must outlive the task. BatchOptions::batch_size
/// counts questions. Throws Error for a model without an answer head, and for questions and regions that do not fit the
/// model.
HEADLIGHT_API TrainingTask VisualQuestionTask(RegionTextEncoder& model, const VisualQuestions& train,
                                              const VisualQuestions& valid, const BatchOptions& batches);

HEADLIGHT_API ValidationReport ValidateVisualQuestions(const RegionTextEncoder& model, const VisualQuestions& valid,
                                                       const PassWatch& watch = {});

}  // namespace headlight
