// Shared by the two kinds of contrastive training: of pictures with texts, and of texts with texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/cli/model_training.h"
#include "headlight/train/tasks/contrastive.h"

namespace headlight {

struct ContrastiveTrainingOptions : ModelTrainingOptions {
  ContrastiveTrainingOptions() {
    sizes = {.model = 192, .heads = 3, .layers = 6};
    tuning_rate = 1e-5;
    batches.batch_tokens = 256;  // pairs
  }

  // clip and siglip: two towers, for pictures with texts; bert: one, for texts with texts.
  enum class Architecture { clip, siglip, bert };

  Architecture architecture = Architecture::clip;
  std::string tokenizer;
  std::vector<std::string> pictures;
  std::int64_t picture = 224, patch = 16;  // pixels of a side
  std::int64_t positions = 77;
  std::optional<std::int64_t> text_model, vector;
  std::optional<int> text_layers;
  std::optional<std::int32_t> text_heads;
  std::optional<double> scale;  // of cosines of texts with texts
  bool skip_errors = false;     // of pictures
  ContrastiveOptions contrastive;

  const std::string& tokenizer_folder() const { return from.empty() ? tokenizer : from; }
};

// Trains an encoder of texts, and saves it as sentence-transformers reads it.
void TrainOnSimilarTexts(ContrastiveTrainingOptions& options);

}  // namespace headlight
