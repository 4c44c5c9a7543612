// Contrastive training of a text encoder (Reimers and Gurevych, "Sentence-BERT", 2019; Henderson et al., "Efficient
// Natural Language Response Suggestion for Smart Reply", 2017, section 4.4). Within a batch, each first text must be
// matched with the second text of its pair, among all second texts and hard negatives. Each second text must be matched
// with the first text of its pair. Equal texts are not negatives.
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
  BatchOptions batches;     // batch_size counts pairs; all pairs of a batch are compared
  std::int64_t part = 256;  // pairs whose activations exist at the same time; a larger batch is computed twice
  double scale = 20;        // factor of the cosines: the inverse temperature, which is not trained
  bool first_token =
      false;  // if true, a text's vector is the state of its first token instead of the mean of all states
  std::int64_t longest = 512;  // limit on the tokens of a text; longer texts are truncated
  std::string prompt = {};     // prepended to every text
};

/// Trains a text encoder on pairs. A validation's score "recall" is the recall at 1: the percentage of texts that rank
/// the other text of their pair first, in blocks of 1,000 pairs. The model, the tokenizer and the pairs must outlive
/// the task.
HEADLIGHT_API TrainingTask SentenceVectorTask(TextEncoder& model, const PipelineTokenizer& tokenizer,
                                              const std::vector<SimilarTexts>& train,
                                              const std::vector<SimilarTexts>& valid,
                                              const SentenceVectorOptions& options);

}  // namespace headlight
