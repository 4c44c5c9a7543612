// Token classification: the model predicts a tag for each word, for example to find named entities.
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

/// Trains to predict the tag of each token. A validation scores words, in per cent. The tag of a word is predicted from
/// its first token. If the model's labels are O, B-X and I-X, the score is the F1 of exact spans. The precision and
/// recall of spans and the accuracy of tags are reported too. For other labels, the score is the accuracy, and the
/// macro F1 is reported too. A word without tokens counts as O or, for other labels, as wrong. Class weights apply only
/// to the training loss.
HEADLIGHT_API TrainingTask TaggingTask(TextEncoder& model, const TaggedSets& texts, const BatchOptions& batches,
                                       const std::vector<double>& class_weights = {});

/// Returns the loss and the scores of the tags on `texts`, as in the task's validation.
HEADLIGHT_API ValidationReport ValidateTags(const TextEncoder& model, const TaggedTexts& texts,
                                            const PassWatch& watch = {});

}  // namespace headlight
