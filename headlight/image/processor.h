// From an image to a model's input, as preprocessor_config.json asks for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/image/image.h"
#include "headlight/image/resize.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// How an image's size follows from its own.
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
  ImageSize size = {};
  std::int64_t edge = 0, longest = 0, multiple = 32;
  double crop_share = 0.875;
};

struct HEADLIGHT_API ImageProcessor {
  ResizeRule resize;
  ResizeFilter filter = ResizeFilter::bilinear;
  std::optional<ImageSize> crop;  // of the centre; a smaller image gets a black border
  // Of a byte: (byte * scale - mean[channel]) / deviation[channel].
  double scale = 1;
  std::array<float, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};
  bool mask = false;  // images of a batch may differ in size; a pixel_mask tells them apart
  std::vector<std::array<float, 3>> clusters = {};  // ImageGPT's colours: pixels become the number of the nearest one

  // The image as resized and cropped.
  Image Fit(const Image& image) const;
  // [height, width, 3] of an image from Fit.
  Tensor Values(const Image& fitted) const;
  // The nearest colour of each pixel, row by row, the first of equals. Of an image from Fit.
  std::vector<std::int32_t> Colours(const Image& fitted) const;
};

// The shorter side becomes `edge`, of which the centre remains; bytes become 0 to 1.
HEADLIGHT_API ImageProcessor CentreSquare(std::int64_t edge);

// Where Fit takes an image of this size, before the crop of the centre.
ImageSize ResizedSize(const ResizeRule& rule, ImageSize size);

// Reads the configuration of a processor of Hugging Face Transformers: of ViT, DeiT, CLIP, BiT, SigLIP, BLIP, DINOv3,
// ConvNeXT, DETR, ViLT or ImageGPT. Throws Error that names the key for settings that are not known and may change the
// result.
HEADLIGHT_API ImageProcessor ReadImageProcessor(const JsonView& config);
// From the folder's preprocessor_config.json, or the image_processor of its processor_config.json.
HEADLIGHT_API ImageProcessor LoadImageProcessor(const std::string& folder);

}  // namespace headlight
