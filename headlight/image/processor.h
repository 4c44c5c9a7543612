// Converts images to model inputs, as configured by preprocessor_config.json.
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

/// How an image's size is determined.
struct ResizeRule {
  enum class Kind {
    none,
    exact,  // `size`, ignoring the aspect ratio
    /// The shorter side becomes `edge`. If `longest` is not 0 and the longer side would exceed it, that becomes
    /// `longest`.
    shortest,
    within,  // as large as fits into `size`
    /// ConvNeXT's rule: for an edge below 384, the shorter side becomes edge / crop_share, and edge x edge in the
    /// centre are kept; otherwise edge x edge.
    cropped,
    /// ViLT's rule: like `shortest` with the longer side at most 1333/800 of edge, both rounded down to a multiple.
    multiple,
  };
  Kind kind = Kind::none;
  ImageSize size = {};
  std::int64_t edge = 0, longest = 0, multiple = 32;
  double crop_share = 0.875;
};

struct HEADLIGHT_API ImageProcessor {
  ResizeRule resize;
  ResizeFilter filter = ResizeFilter::bilinear;
  std::optional<ImageSize> crop;  // of the centre; smaller images get a black border
  /// For a byte: (byte * scale - mean[channel]) / deviation[channel].
  double scale = 1;
  std::array<float, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};
  bool mask = false;  // images of a batch can differ in size, and a pixel_mask marks their pixels
  std::vector<std::array<float, 3>> clusters = {};  // ImageGPT's colours: pixels become the index of the nearest one

  /// The resized and cropped image.
  Image Fit(const Image& image) const;
  /// The values [height, width, 3] of an image from Fit.
  Tensor Values(const Image& fitted) const;
  /// The nearest colour of each pixel of an image from Fit, in row-major order; ties go to the first colour.
  std::vector<std::int32_t> Colours(const Image& fitted) const;
};

/// Resizes the shorter side to `edge` and crops the centre; bytes become 0 to 1.
HEADLIGHT_API ImageProcessor CentreSquare(std::int64_t edge);

/// The size to which Fit resizes an image of this size, before cropping.
ImageSize ResizedSize(const ResizeRule& rule, ImageSize size);

/// Reads the configuration of an image processor of Hugging Face Transformers: ViT, DeiT, CLIP, BiT, SigLIP, BLIP,
/// DINOv3, ConvNeXT, DETR, ViLT or ImageGPT. Throws Error naming the key for unknown settings that may change the
/// result.
HEADLIGHT_API ImageProcessor ReadImageProcessor(const JsonView& config);
/// Reads the folder's preprocessor_config.json, or the image_processor of its processor_config.json.
HEADLIGHT_API ImageProcessor LoadImageProcessor(const std::string& folder);

}  // namespace headlight
