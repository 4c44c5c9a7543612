// Trains text encoders: masked language models, text and token classifiers, and extractive question answering.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/data/classified_texts.h"
#include "headlight/nn/problem.h"
#include "headlight/recipes/text_training.h"

namespace headlight {

/// The options that all training runs of text encoders share.
struct EncoderTraining : TextTraining {
  std::string preset;  ///< for masked language models: a published size of ESM-2, such as esm2-8m
  MaskingOptions masking;
  std::string class_weights;  ///< balanced, or LABEL=WEIGHT,...
  /// For text classifiers: one label per text, several labels, or regression [as in the model's head].
  std::optional<Problem> problem = {};
  TextColumns columns = {};  ///< for text classifiers: columns of .jsonl and .csv files
  bool truncate = false;     ///< for text classifiers: if true, truncates texts that are too long
};

struct MaskedLanguageModelTraining : EncoderTraining {};
struct TextClassifierTraining : EncoderTraining {};
struct TokenClassifierTraining : EncoderTraining {};
struct QuestionAnswererTraining : EncoderTraining {};

HEADLIGHT_API void Describe(OptionTable& table, MaskedLanguageModelTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, TextClassifierTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, TokenClassifierTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, QuestionAnswererTraining& options);

/// Train a model, and save its folder. A model from scratch is a BERT, or an ESM-2 if a preset is given. If the model
/// has no head for the task, a new head is created. Throw Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainMaskedLanguageModel(MaskedLanguageModelTraining options,
                                                      const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainTextClassifier(TextClassifierTraining options, const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainTokenClassifier(TokenClassifierTraining options, const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainQuestionAnswerer(QuestionAnswererTraining options, const TrainingObserver& observer);

}  // namespace headlight
