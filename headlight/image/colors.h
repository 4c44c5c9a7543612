// Quantizes colors for ImageGPT (Chen et al., "Generative Pretraining from Pixels", 2020, section 3.1). The colors
// are computed by k-means, and each pixel is replaced by the nearest color.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/image/image.h"
#include "headlight/image/processor.h"

namespace headlight {

using PaletteColor = std::array<float, 3>;  // red, green and blue, from -1 to 1

inline constexpr std::int64_t kMostColors = 4096;

/// Counts the colors of images.
class HEADLIGHT_API ColorCounts {
 public:
  void Add(const Image& image);
  /// Clusters the pixels into `count` colors, from 1 to kMostColors, by k-means (Lloyd, "Least Squares Quantization
  /// in PCM", 1982). Returns the colors from dark to bright. The initialization is deterministic. The first color is
  /// the most frequent color. Each further color is the color whose pixels have the greatest sum of squared
  /// distances to their nearest previous color. If images have more than 65,536 colors, colors that differ only in
  /// their lowest bits are merged into their mean. Throws Error if images have fewer than `count` colors.
  std::vector<PaletteColor> Cluster(std::int64_t count) const;

 private:
  std::vector<std::uint64_t> counts_;  // [2^24] indexed by red, green and blue; empty before the first image
};

/// Returns the byte values of a color: 127.5 * (value + 1), rounded as in NumPy.
HEADLIGHT_API std::array<std::uint8_t, 3> BytesOf(const PaletteColor& color);

/// Returns the preprocessor_config.json of an ImageGPT model for images of this size.
HEADLIGHT_API Json ColorProcessorConfig(ImageSize size, const std::vector<PaletteColor>& colors);

/// Computes ImageProcessor::Colors for many images. The result for each color is cached. `processor` must outlive
/// this object.
class HEADLIGHT_API NearestColors {
 public:
  explicit NearestColors(const ImageProcessor& processor);
  /// Appends the color index of each pixel of an image from ImageProcessor::Fit, in row-major order.
  void Append(const Image& fitted, std::vector<std::uint16_t>& colors);

 private:
  const ImageProcessor& processor_;
  std::vector<std::uint16_t> known_;  // [2^24] indexed by red, green and blue
};

}  // namespace headlight
