// Images in few colours, as ImageGPT reads them (Chen et al., "Generative Pretraining from Pixels", 2020, section
// 3.1): the colours are learned by k-means, and each pixel becomes the nearest.
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

// How often images have which colour.
class HEADLIGHT_API ColourCounts {
 public:
  void Add(const Image& image);
  // `count` colours, 1 to kMostColours, whose squared distance to the pixels is locally least (Lloyd, "Least Squares
  // Quantization in PCM", 1982), from the darkest to the brightest. It takes no random numbers: the first colour is the
  // most frequent, and each next one that whose pixels' squared distances to their nearest sum to most. Where images
  // have more than 65,536 colours, those that differ only in their lowest bits are one, their mean. Throws Error where
  // images have fewer than `count` colours.
  std::vector<Colour> Cluster(std::int64_t count) const;

 private:
  std::vector<std::uint64_t> counts_;  // [2^24], by red, green and blue; empty until there is an image
};

// The byte values of a colour: 127.5 * (value + 1), rounded as NumPy does.
HEADLIGHT_API std::array<std::uint8_t, 3> BytesOf(const Colour& colour);

// The preprocessor_config.json of an ImageGPT, for images of this size.
HEADLIGHT_API Json ColourProcessorConfig(ImageSize size, const std::vector<Colour>& colours);

// ImageProcessor::Colours of many images, where each colour is searched for once. The processor must outlive it.
class HEADLIGHT_API NearestColours {
 public:
  explicit NearestColours(const ImageProcessor& processor);
  // Adds the numbers of an image's colours, row by row. Of an image from ImageProcessor::Fit.
  void Append(const Image& fitted, std::vector<std::uint16_t>& colours);

 private:
  const ImageProcessor& processor_;
  std::vector<std::uint16_t> known_;  // [2^24], by red, green and blue
};

}  // namespace headlight
