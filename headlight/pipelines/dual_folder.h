// A dual encoder with the tokenizer and the image processor that its towers need. Embeds texts and images in batches.
// Several pipelines use it.
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
  std::optional<WholeTexts> texts;          ///< set if the model has a text tower
  std::optional<ImageProcessor> processor;  ///< set if the model has an image tower
};

/// Loads a dual encoder. Throws Error if the folder has another kind of model, or if its tokenizer has more tokens than
/// the model. Throws Error for options that encoders do not have.
HEADLIGHT_API DualFolder LoadDualFolder(const std::string& folder, const LoadOptions& options = {},
                                        LoadFor purpose = LoadFor::computing);

/// Returns the attention of the text tower for a text. Throws Error if the model has no text tower or the text is too
/// long.
AttentionRecord TextAttentionOf(const DualFolder& loaded, std::string_view text);

/// Returns the relevance of each patch for the similarity of an image and a text (inspect/relevance.h). The folder must
/// be loaded with both towers. Throws Error if the model lacks a tower or the text is too long.
AttentionRecord ImageRelevanceOf(const DualFolder& loaded, const Image& image, std::string_view text);

}  // namespace headlight
