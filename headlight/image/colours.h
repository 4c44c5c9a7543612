// Colour quantization for ImageGPT (Chen et al., "Generative Pretraining from Pixels", 2020, section 3.1): colours are
// found by k-means, and each pixel becomes the nearest one.
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
  /// Clusters the pixels into `count` colours, 1 to kMostColours, by k-means (Lloyd, "Least Squares Quantization in
  /// PCM", 1982), sorted from dark to bright. The initialization is deterministic: the first colour is the most
  /// frequent one, and each next one is the colour whose pixels have the greatest summed squared distance to their
  /// nearest colour. If images have more than 65,536 colours, those that differ only in their lowest bits are merged to
  /// their mean. Throws Error if images have fewer than `count` colours.
  std::vector<Colour> Cluster(std::int64_t count) const;

 private:
  std::vector<std::uint64_t> counts_;  // [2^24], by red, green and blue; empty until there is an image
};

/// The byte values of a colour: 127.5 * (value + 1), rounded like NumPy.
HEADLIGHT_API std::array<std::uint8_t, 3> BytesOf(const Colour& colour);

/// The preprocessor_config.json of an ImageGPT for images of this size.
HEADLIGHT_API Json ColourProcessorConfig(ImageSize size, const std::vector<Colour>& colours);

/// ImageProcessor::Colours for many images, with a cache of each colour's result. The processor must outlive it.
class HEADLIGHT_API NearestColours {
 public:
  explicit NearestColours(const ImageProcessor& processor);
  /// Appends the indices of the colours of an image from ImageProcessor::Fit, in row-major order.
  void Append(const Image& fitted, std::vector<std::uint16_t>& colours);

 private:
  const ImageProcessor& processor_;
  std::vector<std::uint16_t> known_;  // [2^24], by red, green and blue
};

}  // namespace headlight
