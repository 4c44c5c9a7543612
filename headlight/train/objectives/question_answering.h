// Extractive question answering: the model predicts the span of a passage that answers a question.
#pragma once

#include "headlight/base/export.h"
#include "headlight/data/questions.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/training_task.h"

namespace headlight {

/// The questions of training and validation. They must outlive the task.
struct QuestionSets {
  QuestionTexts train, valid;
};

/// Trains to predict the start and end tokens of an answer among all tokens of a window (Devlin et al., "BERT", 2019,
/// section 4.2). If there is no answer, both are the first token (section 4.3). A validation divides passages into the
/// same windows as `QuestionAnswerer`. The model may decline to answer if any question of the set has no answer. The
/// score is SQuAD's F1 in per cent. The exact match is reported too.
HEADLIGHT_API TrainingTask QuestionTask(TextEncoder& model, const QuestionSets& texts, const BatchOptions& batches);

/// Returns the loss, the F1 and the exact match on `texts`, as in the task's validation. The texts must include
/// reference answers.
HEADLIGHT_API ValidationReport ValidateAnswers(const TextEncoder& model, const QuestionTexts& texts,
                                               const PassWatch& watch = {});

}  // namespace headlight
