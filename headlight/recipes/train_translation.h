// Trains the original Transformer for translation on parallel text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/corpus.h"
#include "headlight/data/text_pairs.h"
#include "headlight/models/transformer.h"
#include "headlight/recipes/model_training.h"
#include "headlight/text/tokenizers/vocabulary.h"

namespace headlight {

/// The options of translation training. `train` and `valid` each have two files, plain or gzip: the source and the
/// target text, aligned line by line. Alternatively, each has one file of pairs (PairReader).
struct TranslationTraining : ModelTraining {
  std::string preset;                          ///< base (as in the paper) or multi30k
  std::optional<std::int32_t> decoder_layers;  ///< [as many as `layers`]
  NormPosition norm = NormPosition::post;
  Activation activation = Activation::relu;
  bool tie_source_target = true, tie_output = true;
  std::int64_t positions = 512;  ///< minimum number; the model has more if `corpus` allows longer sentences
  PairColumns columns;           ///< columns of files with pairs
  VocabularyOptions vocabulary;  ///< the seed is not used
  double bpe_dropout = 0;
  CorpusOptions corpus;                   ///< determines which pairs are skipped
  TeacherForcingOptions teacher_forcing;  ///< `batches` is not used
};

HEADLIGHT_API void Describe(OptionTable& table, TranslationTraining& options);

/// Trains a vocabulary of both languages and a model, and saves a model folder with config.json, model.safetensors and
/// the tokenizer's files. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainTranslation(TranslationTraining options, const TrainingObserver& observer);

/// Trains a vocabulary on both sides of the files. `files` has the format of TranslationTraining::train.
HEADLIGHT_API MarianTokenizer LearnVocabulary(const std::vector<std::string>& files, const VocabularyOptions& options,
                                              const PairColumns& columns = {});

}  // namespace headlight
