// What encoders learn of the parts of a text: tags of its words, and where it answers a question.
#pragma once

#include "headlight/base/export.h"
#include "headlight/data/questions.h"
#include "headlight/data/tagged_texts.h"
#include "headlight/nn/text_encoder.h"
#include "headlight/train/trainer.h"

namespace headlight {

// What is learned from and what is validated on. They must outlive the task.
struct TaggedSets {
  TaggedTexts train, valid;
};

// The tag of each token. A validation's score is of the words, each by its first token, in per cent: where the model's
// labels are O, B-X and I-X, F1 of exact spans (with precision and recall), else the share of right tags. A word that
// the tokenizer has no token for counts as O, or as wrong.
HEADLIGHT_API TrainingTask TaggingTask(TextEncoder& model, const TaggedSets& texts, const TrainingOptions& options);

struct QuestionSets {
  QuestionTexts train, valid;  // valid: to be scored
};

// The token that an answer begins with and the one that it ends with, each among all tokens of a window (Devlin et al.,
// "BERT", 2019, section 4.2); the first token where there is no answer (section 4.3). A validation reads the passages
// as `Answerer` does, which may decline where some question of the set has no answer; its score is SQuAD's F1, beside
// it the share of exact matches, in per cent.
HEADLIGHT_API TrainingTask QuestionTask(TextEncoder& model, const QuestionSets& texts, const TrainingOptions& options);

}  // namespace headlight
