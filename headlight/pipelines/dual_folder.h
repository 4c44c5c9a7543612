// Shared by the tasks of models of two towers: a model with its tokenizer and its preparation of images, as far as it
// has the towers, and vectors in batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/processor.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/text/tokenizers/whole_texts.h"

namespace headlight {

struct DualFolder {
  std::unique_ptr<const DualEncoder> model;
  std::optional<WholeTexts> texts;          // where it has a tower for them
  std::optional<ImageProcessor> processor;  // likewise for images
};

// Throws Error where the folder does not hold such a model, or its tokenizer has more tokens than the model, and for
// options that encoders do not have.
HEADLIGHT_API DualFolder LoadDualFolder(const std::string& folder, const LoadOptions& options = {},
                                        LoadFor purpose = LoadFor::computing);

// The attention of the texts' tower for a text. Throws Error where the model has none, and where the text is longer
// than it reads.
AttentionRecord TextAttentionOf(const DualFolder& loaded, std::string_view text);

// Which patches move the score of an image and a text (inspect/relevance.h), of a folder loaded for everything. Throws
// Error likewise, and where the model lacks a tower.
AttentionRecord ImageRelevanceOf(const DualFolder& loaded, const Image& image, std::string_view text);

}  // namespace headlight
