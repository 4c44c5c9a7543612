// Quantizes colours for ImageGPT (Chen et al., "Generative Pretraining from Pixels", 2020, section 3.1). The colours
// are computed by k-means, and each pixel is replaced by the nearest colour.
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

using Colour = std::array<float, 3>;  // red, green and blue, from -1 to 1

inline constexpr std::int64_t kMostColours = 4096;

/// Counts the colours of images.
class HEADLIGHT_API ColourCounts {
 public:
  void Add(const Image& image);
  /// Clusters the pixels into `count` colours, from 1 to kMostColours, by k-means (Lloyd, "Least Squares Quantization
  /// in PCM", 1982). Returns the colours from dark to bright. The initialization is deterministic. The first colour is
  /// the most frequent colour. Each further colour is the colour whose pixels have the greatest sum of squared
  /// distances to their nearest previous colour. If images have more than 65,536 colours, colours that differ only in
  /// their lowest bits are merged into their mean. Throws Error if images have fewer than `count` colours.
  std::vector<Colour> Cluster(std::int64_t count) const;

 private:
  std::vector<std::uint64_t> counts_;  // [2^24] indexed by red, green and blue; empty before the first image
};

/// Returns the byte values of a colour: 127.5 * (value + 1), rounded as in NumPy.
HEADLIGHT_API std::array<std::uint8_t, 3> BytesOf(const Colour& colour);

/// Returns the preprocessor_config.json of an ImageGPT model for images of this size.
HEADLIGHT_API Json ColourProcessorConfig(ImageSize size, const std::vector<Colour>& colours);

/// Computes ImageProcessor::Colours for many images. The result for each colour is cached. `processor` must outlive
/// this object.
class HEADLIGHT_API NearestColours {
 public:
  explicit NearestColours(const ImageProcessor& processor);
  /// Appends the colour index of each pixel of an image from ImageProcessor::Fit, in row-major order.
  void Append(const Image& fitted, std::vector<std::uint16_t>& colours);

 private:
  const ImageProcessor& processor_;
  std::vector<std::uint16_t> known_;  // [2^24] indexed by red, green and blue
};

}  // namespace headlight
