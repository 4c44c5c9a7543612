// Tagging: the tag of each word, such as the names of people and places.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/tagged_texts.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/training_task.h"

namespace headlight {

// The texts of a training and of its validations. They must outlive the task.
struct TaggedSets {
  TaggedTexts train, valid;
};

// The tag of each token. A validation's score is of the words, each by its first token, in per cent: where the model's
// labels are O, B-X and I-X, F1 of exact spans (with precision, recall and the accuracy of tags), else the accuracy
// (with the macro F1). A word that the tokenizer has no token for counts as O, or as wrong. The loss of a validation
// has no class weights.
HEADLIGHT_API TrainingTask TaggingTask(TextEncoder& model, const TaggedSets& texts, const BatchOptions& batches,
                                       const std::vector<double>& class_weights = {});

/// The loss and the scores of the tags on `texts`, which are the task's validation.
HEADLIGHT_API ValidationReport ValidateTags(const TextEncoder& model, const TaggedTexts& texts,
                                            const PassWatch& watch = {});

}  // namespace headlight
