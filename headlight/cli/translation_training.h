// Training a translation model from text files: what `train translation` and `demo` share.
#pragma once

#include <cstdint>
#include <string>

#include "headlight/base/compute.h"
#include "headlight/base/option_table.h"
#include "headlight/data/corpus.h"
#include "headlight/models/transformer.h"
#include "headlight/text/tokenizers/vocabulary.h"
#include "headlight/train/tasks/translation.h"
#include "headlight/train/trainer.h"

namespace headlight {

struct TranslationTraining {
  std::string train_source, train_target, valid_source, valid_target;  // text, plain or gzip
  double validate_split = 0;  // where there are no texts to validate on: the share of the others that is held out
  std::string out;            // the folder of the model and of all that the training keeps
  TransformerConfig model;    // its vocabulary and special tokens come from the tokenizer
  VocabularyOptions vocabulary;
  CorpusOptions corpus;
  double bpe_dropout = 0;
  TrainingOptions training;
  TeacherForcingOptions teacher_forcing;  // the seed of its batches is the training's
  Compute compute = Compute::float32;     // of matrix products; weights and sums stay float32
  bool resume = false;
  bool quiet = false;                    // tells nothing but warnings and errors
  bool profile = false;                  // tells after some steps where their time went
  const OptionTable* command = nullptr;  // whose options errors name
};

// out/ becomes a model folder (config.json, model.safetensors, the tokenizer's files), the best on the validation set;
// beside it stand last/ (the model of the last step), checkpoint/, metrics.jsonl, TensorBoard's event file and
// training.svg. Throws Error where a file or setting is wrong, before anything is written where that can be known.
TrainingResult TrainTranslation(const TranslationTraining& settings);

// Learns subwords from both sides' lines.
MarianTokenizer LearnVocabulary(const std::string& source, const std::string& target, const VocabularyOptions& options);

}  // namespace headlight
