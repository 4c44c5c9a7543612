// From a picture to a model's input, as preprocessor_config.json asks for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/image/picture.h"
#include "headlight/image/resize.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// How a picture's size follows from its own.
struct ResizeRule {
  enum class Kind {
    none,
    exact,     // `size`, whatever the shape
    shortest,  // the shorter side is `edge`; where `longest` is not 0 and the longer one would exceed it, it is
               // `longest`
    within,    // as large as fits into `size`
    // ConvNeXT's: below 384 the shorter side is edge / crop_share, of which edge x edge in the centre remain; else
    // edge x edge.
    cropped,
    multiple,  // ViLT's: as `shortest` with the longer side at most 1333/800 of edge, both rounded down to a multiple
  };
  Kind kind = Kind::none;
  PictureSize size = {};
  std::int64_t edge = 0, longest = 0, multiple = 32;
  double crop_share = 0.875;
};

struct HEADLIGHT_API PictureProcessor {
  ResizeRule resize;
  ResizeFilter filter = ResizeFilter::bilinear;
  std::optional<PictureSize> crop;  // of the centre; a smaller picture gets a black border
  // Of a byte: (byte * scale - mean[channel]) / deviation[channel].
  double scale = 1;
  std::array<float, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};
  bool mask = false;  // pictures of a batch may differ in size; a pixel_mask tells them apart
  std::vector<std::array<float, 3>> clusters = {};  // ImageGPT's colours: pixels become the number of the nearest one

  // The picture as resized and cropped.
  Picture Fit(const Picture& picture) const;
  // [height, width, 3] of a picture from Fit.
  Tensor Values(const Picture& fitted) const;
  // The nearest colour of each pixel, row by row, the first of equals. Of a picture from Fit.
  std::vector<std::int32_t> Colours(const Picture& fitted) const;
};

// The shorter side becomes `edge`, of which the centre remains; bytes become 0 to 1.
HEADLIGHT_API PictureProcessor CentreSquare(std::int64_t edge);

// Where Fit takes a picture of this size, before the crop of the centre.
PictureSize ResizedSize(const ResizeRule& rule, PictureSize size);

// Reads the configuration of a processor of Hugging Face Transformers: of ViT, DeiT, CLIP, BiT, SigLIP, BLIP, DINOv3,
// ConvNeXT, DETR, ViLT or ImageGPT. Throws Error that names the key for settings that are not known and may change the
// result.
HEADLIGHT_API PictureProcessor ReadPictureProcessor(const JsonView& config);
// From the folder's preprocessor_config.json, or the image_processor of its processor_config.json.
HEADLIGHT_API PictureProcessor LoadPictureProcessor(const std::string& folder);

}  // namespace headlight
