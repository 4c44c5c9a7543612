// Helpers shared by the tasks on texts with image regions. The helpers pack pairs into micro-batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/kinds/region_text_encoder.h"

namespace headlight {

/// The regions of an image, in the layout of Regions.
struct ImageRegions {
  Tensor features, boxes;
  std::vector<std::int32_t> classes = {};  // class of each region (-1: unknown), only if a task needs it
};

/// Packed texts with their images.
struct PackedPairs {
  std::vector<std::int32_t> ids, types;
  Sequences texts;
  Regions regions;
};

/// A pair of a text and an image.
struct PairRows {
  std::span<const std::int32_t> ids, types;
  const ImageRegions* image;
};
PackedPairs PackPairs(std::span<const PairRows> pairs);

/// Divides `count` pairs into consecutive micro-batches that fit into memory, and calls body(first, end) for each.
/// `rows` returns the number of tokens and regions of a pair.
void ForPairParts(std::size_t count, const std::function<std::size_t(std::size_t pair)>& rows,
                  const std::function<void(std::size_t first, std::size_t end)>& body);

/// Throws Error unless all regions have the sizes that the model expects.
void CheckRegions(const RegionTextEncoder& model, const std::vector<ImageRegions>& images);

EncodedPairs EncodePairs(const RegionTextEncoder& model, Context& context, const PackedPairs& pairs);

}  // namespace headlight
