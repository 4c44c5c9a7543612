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

/// The rule that determines an image's new size.
struct ResizeRule {
  enum class Kind {
    none,
    exact,  // resizes to `size` and ignores the aspect ratio
    /// Resizes the shorter side to `edge`. If `longest` is not 0 and the longer side would exceed it, the longer side
    /// is resized to `longest`.
    shortest,
    within,  // keeps the aspect ratio; the result is the largest that fits into `size`
    /// ConvNeXT's rule. If edge is below 384, the shorter side is resized to edge / crop_share, and the center of edge
    /// x edge is cropped. Otherwise, the image is resized to edge x edge.
    cropped,
    /// ViLT's rule. Like `shortest`, but the longer side is at most 1333/800 of edge, and both sides are rounded down
    /// to a multiple of `multiple`.
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
  std::optional<ImageSize> crop;  // the size of the center crop; smaller images get a black border
  /// A byte is converted to (byte * scale - mean[channel]) / deviation[channel].
  double scale = 1;
  std::array<float, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};
  bool mask = false;  // if true, images of a batch can differ in size, and a pixel_mask marks their pixels
  /// ImageGPT's colors. Each pixel is replaced by the index of the nearest color.
  std::vector<std::array<float, 3>> clusters = {};

  /// Resizes and crops the image.
  Image Fit(const Image& image) const;
  /// Returns the values [height, width, 3] of an image from Fit.
  Tensor Values(const Image& fitted) const;
  /// Returns the nearest color of each pixel of an image from Fit, in row-major order. Ties go to the first color.
  std::vector<std::int32_t> Colors(const Image& fitted) const;
};

/// Returns a processor that resizes the shorter side to `edge`, crops the center, and scales bytes to 0 to 1.
HEADLIGHT_API ImageProcessor CenterSquare(std::int64_t edge);

/// Returns the size to which Fit resizes an image of this size, before cropping.
ImageSize ResizedSize(const ResizeRule& rule, ImageSize size);

/// Reads the configuration of an image processor of Hugging Face Transformers: ViT, DeiT, CLIP, BiT, SigLIP, BLIP,
/// DINOv3, ConvNeXT, DETR, ViLT or ImageGPT. Throws Error naming the key of an unknown setting that may change the
/// result.
HEADLIGHT_API ImageProcessor ReadImageProcessor(const JsonView& config);
/// Reads preprocessor_config.json, or the image_processor in processor_config.json, from a folder.
HEADLIGHT_API ImageProcessor LoadImageProcessor(const std::string& folder);

}  // namespace headlight
