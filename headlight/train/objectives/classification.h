// Classification: a class of each text, several, or numbers.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/classified_texts.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

/// What a model's head asks of a text.
HEADLIGHT_API LabelsPerText AskedOf(Problem problem);

// The loss, a mean over texts, is that of Transformers' models for the head's problem: the cross-entropy; of several
// labels the mean binary cross-entropy of the labels; of numbers their mean squared error. A validation's score is the
// accuracy, next to it the macro F1, the mean of the classes' F1; of several labels, which count from a probability of
// 0.5, the micro and the macro F1 of all labels; all in per cent. Of numbers it is the mean of Pearson's correlations
// with them, next to it Spearman's. Its loss has no class weights, which are for one label of each text. Throws Error
// for a text that is longer than the model or has no class of it.
HEADLIGHT_API TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const BatchOptions& batches,
                                              const std::vector<double>& class_weights = {});

/// The loss and the scores on `texts`, which are the task's validation.
HEADLIGHT_API ValidationReport ValidateClasses(const TextEncoder& model, const std::vector<TextExample>& texts,
                                               const PassWatch& watch = {});

}  // namespace headlight
