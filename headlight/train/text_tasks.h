// What models of text alone learn: next words, hidden words, classes.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"
#include "headlight/nn/language_model.h"
#include "headlight/nn/text_encoder.h"
#include "headlight/train/trainer.h"

namespace headlight {

// What is learned from and what is validated on. They must outlive the task.
struct TextSets {
  std::vector<TextExample> train, valid;
  std::int64_t valid_bytes = 0;  // of the texts, for bits a byte; 0: not asked
};

// The next token at each place (Radford et al., "Improving Language Understanding by Generative Pre-Training", 2018,
// eq. 1). Each text begins after the end token and ends with it, where the model has one. A report's score is none, its
// perplexity a token's. Throws Error for a text that is longer than the model.
HEADLIGHT_API TrainingTask LanguageModelTask(LanguageModel& model, const TextSets& texts,
                                             const TrainingOptions& options);

// BERT's hidden words (Devlin et al., 2019, section 3.1, task 1).
struct MaskingOptions {
  double share = 0.15;                         // of the tokens that are asked for
  bool whole_words = false;                    // all of a word's tokens or none
  std::int32_t mask_id = 0;                    // what stands for 8 in 10 of them; 1 in 10 is any token, 1 in 10 stays
  std::vector<std::int32_t> special_ids = {};  // never written for another
};

// Hides other tokens of a text in each epoch (Liu et al., "RoBERTa", 2019, section 4.1), and the same ones at every
// validation, whose score is the share of them that is guessed, in per cent.
HEADLIGHT_API TrainingTask MaskedLanguageModelTask(TextEncoder& model, const TextSets& texts,
                                                   const MaskingOptions& masking, const TrainingOptions& options);

// The class of each text; a validation's score is the share of them that is right, in per cent.
HEADLIGHT_API TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts,
                                              const TrainingOptions& options);

}  // namespace headlight
