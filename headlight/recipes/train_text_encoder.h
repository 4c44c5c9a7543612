// Training text encoders: masked language models, classifiers of texts and of tokens, and models that find answers.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/data/classified_texts.h"
#include "headlight/nn/problem.h"
#include "headlight/recipes/text_training.h"

namespace headlight {

/// What the four trainings of text encoders share.
struct EncoderTraining : TextTraining {
  std::string preset;  ///< of a masked language model: the published size of an ESM-2, such as esm2-8m
  MaskingOptions masking;
  std::string class_weights;  ///< balanced, or LABEL=WEIGHT,...
  /// Of a classifier of texts: one label for each text, several, or a number [as the model's head has it].
  std::optional<Problem> problem = {};
  TextColumns columns = {};  ///< of a classifier of texts: in .jsonl and .csv files
  bool truncate = false;     ///< of classes of texts: the end of a text that is too long is left out
};

struct MaskedLanguageModelTraining : EncoderTraining {};
struct TextClassifierTraining : EncoderTraining {};
struct TokenClassifierTraining : EncoderTraining {};
struct QuestionAnswererTraining : EncoderTraining {};

HEADLIGHT_API void Describe(OptionTable& table, MaskedLanguageModelTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, TextClassifierTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, TokenClassifierTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, QuestionAnswererTraining& options);

/// Train, from scratch a BERT (with a preset an ESM-2), and save a model folder. A model without a head for the task is
/// given a new one. Throw Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainMaskedLanguageModel(MaskedLanguageModelTraining options,
                                                      const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainTextClassifier(TextClassifierTraining options, const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainTokenClassifier(TokenClassifierTraining options, const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainQuestionAnswerer(QuestionAnswererTraining options, const TrainingObserver& observer);

}  // namespace headlight
