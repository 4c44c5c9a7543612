// A model of texts and image regions, and its tokenizer. Used by several pipelines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/inspect/image_attention.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// Returns the side, in pixels, of the square to which each region is resized. Throws Error for a model whose region
/// features are not pixels, or whose box features differ from RegionsOfBoxes.
HEADLIGHT_API std::int64_t RegionSideOf(const RegionTextEncoder& model);

struct RegionFolder {
  std::unique_ptr<const RegionTextEncoder> model;
  PipelineTokenizer tokenizer;
  std::int64_t side;  ///< result of RegionSideOf; 0 if the inputs are whole images
};

/// Loads a model of texts and image regions. Throws Error if the folder has another kind of model, or if its tokenizer
/// has more tokens than the model. Throws Error for options that encoders do not have.
HEADLIGHT_API RegionFolder LoadRegionFolder(const std::string& folder, const LoadOptions& options = {});

/// Tokenizes a question. Throws Error if it is not UTF-8, empty or too long.
Encoding ReadQuestion(const RegionFolder& loaded, std::string_view question);

/// Returns the co-attention of a question and the regions or patches of an image, in one layer (from 0) or in all
/// layers. Throws the same errors as ReadQuestion.
AttentionRecord RegionAttentionOf(const RegionFolder& loaded, const Image& image, std::span<const NamedBox> boxes,
                                  std::string_view question, std::optional<int> layer = {});

}  // namespace headlight
