// The attention of models with images as inputs.
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

/// Returns the attention for one image: all heads of all layers, or of one layer (from 0). The tokens are the class
/// token, other special tokens, and the patches, named by row and column ("3·7"). Throws Error if there are more
/// weights than kMostWeights, if the layer does not exist, and for a convolutional network.
HEADLIGHT_API AttentionRecord AttentionOf(const ImageEncoder& model, const ImageProcessor& processor,
                                          const Image& image, std::optional<int> layer = {});

/// Returns the attention of the image tower of a dual encoder. Throws the same errors as for an ImageEncoder, and Error
/// if the model has no image tower.
HEADLIGHT_API AttentionRecord AttentionOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                                          std::optional<int> layer = {});

/// Returns the attention of a model of color sequences (ImageGPT). The tokens are the start token `start` and all
/// pixels except the last.
HEADLIGHT_API AttentionRecord AttentionOf(const LanguageModel& model, std::int32_t start,
                                          const ImageProcessor& processor, const Image& image,
                                          std::optional<int> layer = {});

/// Returns the attention of a text-to-image model. The tokens are the start token, the text with its padding, and all
/// codes of an image except the last, named by row and column. `labels` has the labels of the text's ids. Throws the
/// same errors as for an ImageEncoder, and the errors of TextToImageModel::Prompt.
HEADLIGHT_API AttentionRecord AttentionOf(const TextToImageModel& model, std::span<const std::int32_t> text,
                                          const std::vector<std::string>& labels, std::span<const std::int32_t> codes,
                                          const Image& image, std::optional<int> layer = {});

struct DetectorLook {
  double threshold = 0.5;  // minimum score of the objects
  std::optional<int> layer = {};
  bool encoder = true, cross = true;  // if true, the attention is included
};

/// Returns the attentions of a detector. The cross-attention has a query for each detected object ("dog 0.97"), the
/// highest score first. The tokens of the encoder are cells. Throws the same errors as for an ImageEncoder, and Error
/// if only cross-attention is requested and no object is detected.
HEADLIGHT_API AttentionRecord AttentionOf(const DetectionModel& model, const ImageProcessor& processor,
                                          const Image& image, const DetectorLook& look = {});

/// A text that accompanies an image.
struct CaptionLook {
  std::vector<std::int32_t> inputs;  // the model's input tokens for the text
  std::vector<std::string>
      labels;  // one per token: the token itself, or in a generated text the token generated after it
  std::vector<int> special = {};  // indices of tokens that the user may want to hide
  bool reads = false;             // if true, the text is an input, such as a question; if false, it was generated
  std::optional<int> layer = {};
};

/// Returns the attentions of a captioning model: from each token of the text to the image, and between the patches.
/// Throws the same errors as for an ImageEncoder.
HEADLIGHT_API AttentionRecord AttentionOf(const CaptionModel& model, const ImageProcessor& processor,
                                          const Image& image, const CaptionLook& look);

/// A part of an image with a name, such as "dog 0.97".
struct NamedBox {
  Box box;  // in the image's pixels
  std::string name;
};

/// A text with the regions of an image.
struct RegionLook {
  std::vector<std::int32_t> ids, types;  // ids and types of the text's tokens (RegionTextEncoder::Encode)
  std::vector<std::string> labels;       // one per token
  std::vector<int> special = {};         // indices of tokens that the user may want to hide
  std::vector<NamedBox> boxes = {};      // boxes outside the image are ignored
  std::optional<int> layer = {};         // index among the co-attention layers
};

/// Returns the co-attention of a model whose regions are resized to squares of `side` pixels (RegionSideOf): from words
/// to regions, and from regions to words. The first region is the whole image. Throws the same errors as for an
/// ImageEncoder.
HEADLIGHT_API AttentionRecord AttentionOf(const RegionTextEncoder& model, std::int64_t side, const Image& image,
                                          const RegionLook& look);

/// Returns the weights of a head's query for all cells of the image. The weight of a cell without a token is 0.
HEADLIGHT_API std::vector<float> CellWeights(const AttentionMap& map, int head, int query, const ImageTokens& cells);

/// Returns the smallest set of cells with at least the fraction `mass` of the total weight, as in DINO's visualizations
/// (Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", 2021). The smallest weights are dropped
/// as long as their sum is at most 1 - `mass`. The result has one element per cell.
HEADLIGHT_API std::vector<bool> CellsOfMass(std::span<const float> weights, double mass);

}  // namespace headlight
