// Question answering: the span of a passage that answers a question.
#pragma once

#include "headlight/base/export.h"
#include "headlight/data/questions.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/training_task.h"

namespace headlight {

// The questions of a training and of its validations, these to be scored. They must outlive the task.
struct QuestionSets {
  QuestionTexts train, valid;
};

// The token that an answer begins with and the one that it ends with, each among all tokens of a window (Devlin et al.,
// "BERT", 2019, section 4.2); the first token where there is no answer (section 4.3). A validation reads the passages
// as `QuestionAnswerer` does, which may decline where some question of the set has no answer; its score is SQuAD's F1,
// beside it the share of exact matches, in per cent.
HEADLIGHT_API TrainingTask QuestionTask(TextEncoder& model, const QuestionSets& texts, const BatchOptions& batches);

/// The loss, the F1 and the exact matches on `texts`, which were read to be scored; they are the task's validation.
HEADLIGHT_API ValidationReport ValidateAnswers(const TextEncoder& model, const QuestionTexts& texts,
                                               const PassWatch& watch = {});

}  // namespace headlight
