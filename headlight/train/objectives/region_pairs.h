// Shared by the tasks on texts with regions of images: packed pairs, in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/kinds/region_text_encoder.h"

namespace headlight {

// The regions of one image, as Regions has them.
struct ImageRegions {
  Tensor features, boxes;
  std::vector<std::int32_t> classes = {};  // what each region shows, where a task asks for it; -1: not known
};

// Texts with their images, packed.
struct PackedPairs {
  std::vector<std::int32_t> ids, types;
  Sequences texts;
  Regions regions;
};

// A text and an image of a pair.
struct PairRows {
  std::span<const std::int32_t> ids, types;
  const ImageRegions* image;
};
PackedPairs PackPairs(std::span<const PairRows> pairs);

// Cuts `count` pairs into parts, in their order, whose activations exist at the same time: body(first, end). `rows` is
// how many tokens and regions a pair has.
void ForPairParts(std::size_t count, const std::function<std::size_t(std::size_t pair)>& rows,
                  const std::function<void(std::size_t first, std::size_t end)>& body);

// Throws Error unless all regions are as the model reads them.
void CheckRegions(const RegionTextEncoder& model, const std::vector<ImageRegions>& images);

EncodedPairs EncodePairs(const RegionTextEncoder& model, Context& context, const PackedPairs& pairs);

}  // namespace headlight
