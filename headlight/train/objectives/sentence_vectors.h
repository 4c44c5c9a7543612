// Contrastive training of an encoder of texts (Reimers and Gurevych, "Sentence-BERT", 2019; Henderson et al.,
// "Efficient Natural Language Response Suggestion for Smart Reply", 2017, section 4.4): within a batch each text is to
// find its match among the matches of all and the hard negatives of all, but for those equal to it, and each match its
// text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/similar_texts.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct SentenceVectorOptions {
  BatchOptions batches;        // its size is in pairs; a batch is what is compared
  std::int64_t part = 256;     // pairs whose activations exist at a time; a larger batch is computed twice
  double scale = 20;           // of the cosines: the inverse of a temperature, which is not learned
  bool first_token = false;    // a vector is the first token's state, not the mean of all
  std::int64_t longest = 512;  // tokens of a text, of which the end is left out
  std::string prompt = {};     // before every text
};

// A validation's score is in per cent, "recall": among blocks of 1,000 pairs, how many texts find their own match
// first. Model, tokenizer and pairs must outlive the task.
HEADLIGHT_API TrainingTask SentenceVectorTask(TextEncoder& model, const PipelineTokenizer& tokenizer,
                                              const std::vector<SimilarTexts>& train,
                                              const std::vector<SimilarTexts>& valid,
                                              const SentenceVectorOptions& options);

}  // namespace headlight
