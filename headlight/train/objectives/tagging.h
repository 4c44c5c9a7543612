// Token classification: a tag for each word, such as named entities.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/tagged_texts.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/training_task.h"

namespace headlight {

/// The texts of training and validation. They must outlive the task.
struct TaggedSets {
  TaggedTexts train, valid;
};

/// Trains to predict the tag of each token. A validation's scores are over words, each represented by its first token,
/// in per cent. If the model's labels are O, B-X and I-X, the score is the F1 of exact spans, with their precision and
/// recall and the accuracy of tags. Otherwise the score is the accuracy, with the macro F1. A word without tokens
/// counts as O, or as wrong if the labels are not span labels. Class weights apply only to the training loss.
HEADLIGHT_API TrainingTask TaggingTask(TextEncoder& model, const TaggedSets& texts, const BatchOptions& batches,
                                       const std::vector<double>& class_weights = {});

/// Returns the loss and the scores of the tags on `texts`, as in the task's validation.
HEADLIGHT_API ValidationReport ValidateTags(const TextEncoder& model, const TaggedTexts& texts,
                                            const PassWatch& watch = {});

}  // namespace headlight
