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

// Every head of every layer, or of one (from 0), for one image. Its tokens are the class token, further special ones,
// and the patches, named by row and column ("3·7"). Throws Error where there are more weights than kMostWeights,
// where there is no such layer, and of a convolutional network.
HEADLIGHT_API AttentionRecord AttentionOf(const ImageEncoder& model, const ImageProcessor& processor,
                                          const Image& image, std::optional<int> layer = {});

// The same of the images' tower of a model that has two. Throws Error, too, where it has none.
HEADLIGHT_API AttentionRecord AttentionOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                                          std::optional<int> layer = {});

// The same of a model that reads an image as a text of colours, pixel by pixel (ImageGPT): after a start, which has
// this id, all pixels but the last.
HEADLIGHT_API AttentionRecord AttentionOf(const LanguageModel& model, std::int32_t start,
                                          const ImageProcessor& processor, const Image& image,
                                          std::optional<int> layer = {});

// The same of a model that draws: a start, the words of a text, its padding, and all codes of an image but the last,
// which are named by row and column. `labels`: of the text's ids. Throws Error as above and as
// TextToImageModel::Prompt.
HEADLIGHT_API AttentionRecord AttentionOf(const TextToImageModel& model, std::span<const std::int32_t> text,
                                          const std::vector<std::string>& labels, std::span<const std::int32_t> codes,
                                          const Image& image, std::optional<int> layer = {});

struct DetectorLook {
  double threshold = 0.5;  // only objects found with a score above it
  std::optional<int> layer = {};
  bool encoder = true, cross = true;  // which attentions
};

// The attentions of a detector: where the query of each object that it has found looks in the image, of which the
// best is the first ("dog 0.97"), and where the encoder's cells look. Throws Error as above, and where cross-attention
// alone is wanted and no object is found.
HEADLIGHT_API AttentionRecord AttentionOf(const DetectionModel& model, const ImageProcessor& processor,
                                          const Image& image, const DetectorLook& look = {});

// A text beside an image.
struct CaptionLook {
  std::vector<std::int32_t> inputs;  // what the model reads of it, token by token
  std::vector<std::string> labels;   // of each: itself, or of a text that is written what the model wrote after it
  std::vector<int> special = {};     // of them, by index, that a reader may want to hide
  bool reads = false;                // the text is read, as a question is, and not written
  std::optional<int> layer = {};
};

// The attentions of a model that writes about images: where each step of a text looks in the image, and where the
// image's patches look. Throws Error as above.
HEADLIGHT_API AttentionRecord AttentionOf(const CaptionModel& model, const ImageProcessor& processor,
                                          const Image& image, const CaptionLook& look);

// A part of an image with a name, such as "dog 0.97".
struct NamedBox {
  Box box;  // in the image's pixels
  std::string name;
};

// A text beside the regions of an image.
struct RegionLook {
  std::vector<std::int32_t> ids, types;  // of its tokens, as RegionTextEncoder::Encode wants them
  std::vector<std::string> labels;       // of each
  std::vector<int> special = {};         // of them, by index, that a reader may want to hide
  std::vector<NamedBox> boxes = {};      // those outside of the image are left out
  std::optional<int> layer = {};         // of the co-attention layers
};

// The co-attention of a model that reads the pixels of regions, squares of `side` pixels (RegionSideOf): where words
// look among the regions, of which the first is the whole image, and where regions look among the words. Throws Error
// as above.
HEADLIGHT_API AttentionRecord AttentionOf(const RegionTextEncoder& model, std::int64_t side, const Image& image,
                                          const RegionLook& look);

// The weights of a head's query for the cells of the image that its keys are; 0 for a cell without a token.
HEADLIGHT_API std::vector<float> CellWeights(const AttentionMap& map, int head, int query, const ImageTokens& cells);

// The fewest cells that together have the share `mass` of the weight of all cells, as DINO shows its heads
// (Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", 2021): the smallest are left out as long
// as their sum is at most 1 - `mass`. An element for each cell.
HEADLIGHT_API std::vector<bool> CellsOfMass(std::span<const float> weights, double mass);

}  // namespace headlight
