// The attention of models that read images.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/processor.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_to_image_model.h"

namespace headlight {

/// The attention for one image: all heads of all layers, or of one (from 0). The tokens are the class token, other
/// special tokens, and the patches, named by row and column ("3·7"). Throws Error if there are more weights than
/// kMostWeights, if the layer does not exist, and for a convolutional network.
HEADLIGHT_API AttentionRecord AttentionOf(const ImageEncoder& model, const ImageProcessor& processor,
                                          const Image& image, std::optional<int> layer = {});

/// The same for the image tower of a model with two towers. Also throws Error if it has none.
HEADLIGHT_API AttentionRecord AttentionOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                                          std::optional<int> layer = {});

/// The same for a model that reads an image as a sequence of colours (ImageGPT): the start, with this id, then all
/// pixels except the last.
HEADLIGHT_API AttentionRecord AttentionOf(const LanguageModel& model, std::int32_t start,
                                          const ImageProcessor& processor, const Image& image,
                                          std::optional<int> layer = {});

/// The same for a text-to-image model: the start, the words of a text, its padding, and all codes of an image except
/// the last, named by row and column. `labels`: of the text's ids. Throws the errors above and those of
/// TextToImageModel::Prompt.
HEADLIGHT_API AttentionRecord AttentionOf(const TextToImageModel& model, std::span<const std::int32_t> text,
                                          const std::vector<std::string>& labels, std::span<const std::int32_t> codes,
                                          const Image& image, std::optional<int> layer = {});

struct DetectorLook {
  double threshold = 0.5;  // minimum score of the objects
  std::optional<int> layer = {};
  bool encoder = true, cross = true;  // which attentions to include
};

/// The attentions of a detector: those of the queries of detected objects to the image, best first ("dog 0.97"), and
/// those of the encoder's cells. Throws the errors above, and Error if only cross-attention is requested and no object
/// is detected.
HEADLIGHT_API AttentionRecord AttentionOf(const DetectionModel& model, const ImageProcessor& processor,
                                          const Image& image, const DetectorLook& look = {});

/// A text that accompanies an image.
struct CaptionLook {
  std::vector<std::int32_t> inputs;  // the model's input tokens for it
  std::vector<std::string>
      labels;  // one per token: the token itself, or in a generated text the token generated after it
  std::vector<int> special = {};  // indices of tokens that a reader may want to hide
  bool reads = false;             // the text is an input, such as a question, and not generated
  std::optional<int> layer = {};
};

/// The attentions of a captioning model: those of each step of a text to the image, and those of the image's patches.
/// Throws the errors above.
HEADLIGHT_API AttentionRecord AttentionOf(const CaptionModel& model, const ImageProcessor& processor,
                                          const Image& image, const CaptionLook& look);

/// A part of an image with a name, such as "dog 0.97".
struct NamedBox {
  Box box;  // in the image's pixels
  std::string name;
};

/// A text with the regions of an image.
struct RegionLook {
  std::vector<std::int32_t> ids, types;  // of its tokens, as for RegionTextEncoder::Encode
  std::vector<std::string> labels;       // one per token
  std::vector<int> special = {};         // indices of tokens that a reader may want to hide
  std::vector<NamedBox> boxes = {};      // those outside of the image are ignored
  std::optional<int> layer = {};         // index among the co-attention layers
};

/// The co-attention of a model that reads the pixels of regions, squares of `side` pixels (RegionSideOf): from words to
/// regions, of which the first one is the whole image, and from regions to words. Throws the errors above.
HEADLIGHT_API AttentionRecord AttentionOf(const RegionTextEncoder& model, std::int64_t side, const Image& image,
                                          const RegionLook& look);

/// The weights of a head's query for the cells of the image that are its keys; 0 for a cell without a token.
HEADLIGHT_API std::vector<float> CellWeights(const AttentionMap& map, int head, int query, const ImageTokens& cells);

/// The smallest set of cells with the share `mass` of the weight of all cells, as in DINO's visualizations (Caron et
/// al., "Emerging Properties in Self-Supervised Vision Transformers", 2021): the smallest weights are dropped as long
/// as their sum is at most 1 - `mass`. One element per cell.
HEADLIGHT_API std::vector<bool> CellsOfMass(std::span<const float> weights, double mass);

}  // namespace headlight
