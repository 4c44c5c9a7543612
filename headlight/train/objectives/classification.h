// Text classification and regression: one class, several labels, or several values per text.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/classified_texts.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

/// Returns the kind of labels that the model's head is trained on.
HEADLIGHT_API LabelsPerText LabelsPerTextOf(Problem problem);

/// Trains a text classification model. The loss is the mean over texts, defined as in Transformers: the cross-entropy
/// for one class, the mean binary cross-entropy for several labels, or the mean squared error for regression. The
/// scores are:
/// - One class: the accuracy and the macro F1 (the mean of the classes' F1), in per cent.
/// - Several labels: micro and macro F1 of all labels at a probability threshold of 0.5, in per cent.
/// - Regression: the means of the Pearson and Spearman correlations.
/// The first score selects the best model. Class weights apply only to the training loss, and need one label per text.
/// Throws Error for a text that does not fit into the model's positions, and for a class that the model does not have.
HEADLIGHT_API TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const BatchOptions& batches,
                                              const std::vector<double>& class_weights = {});

/// Returns the loss and the scores on `texts`, as in the task's validation.
HEADLIGHT_API ValidationReport ValidateClasses(const TextEncoder& model, const std::vector<TextExample>& texts,
                                               const PassWatch& watch = {});

}  // namespace headlight
