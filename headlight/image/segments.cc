#include "headlight/image/segments.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"

namespace headlight {
namespace {

// A position between two cells, rounded as in PyTorch's interpolate(align_corners=False).
struct SourcePosition {
  std::size_t first, second;
  float share;  // the weight of the second cell
};

std::vector<SourcePosition> SourcePositions(std::int64_t cells, std::int64_t pixels) {
  std::vector<SourcePosition> positions;
  const float scale = static_cast<float>(cells) / static_cast<float>(pixels);
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    const float at = std::max(0.0F, (static_cast<float>(pixel) + 0.5F) * scale - 0.5F);
    const std::int64_t first = std::min(static_cast<std::int64_t>(at), cells - 1);
    positions.push_back({static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(first + 1, cells - 1)),
                         at - static_cast<float>(first)});
  }
  return positions;
}

// The pixel counts of each candidate: claimed pixels and won pixels.
struct Areas {
  std::vector<std::int64_t> claimed, won;
};

}  // namespace

Segmentation SegmentsOf(std::span<const MaskedThing> things, ImageSize masks, ImageSize image,
                        const SegmentRules& rules) {
  for (const MaskedThing& thing : things)
    Check(masks.height > 0 && masks.width > 0 && std::ssize(thing.mask) == masks.height * masks.width,
          "a mask has {} cells, but {} x {} are expected", thing.mask.size(), masks.width, masks.height);
  Segmentation result{.height = image.height, .width = image.width};
  result.ids.assign(static_cast<std::size_t>(image.height * image.width), 0);
  if (things.empty()) return result;

  const std::vector<SourcePosition> rows = SourcePositions(masks.height, image.height),
                                    columns = SourcePositions(masks.width, image.width);
  const auto width = static_cast<std::size_t>(masks.width);
  const std::vector<std::int64_t> none(things.size(), 0);
  Areas areas{none, none};
  std::mutex adding;
  ParallelFor(image.height, [&](std::int64_t y) {
    const SourcePosition& row = rows[static_cast<std::size_t>(y)];
    Areas own{none, none};
    std::int32_t* id = result.ids.data() + y * image.width;
    for (const SourcePosition& column : columns) {
      float most = -1;
      std::size_t best = 0;
      for (std::size_t thing = 0; thing < things.size(); ++thing) {
        const float* const mask = things[thing].mask.data();
        const auto across = [&](std::size_t at) {
          return (1 - column.share) * mask[at * width + column.first] + column.share * mask[at * width + column.second];
        };
        const float probability = (1 - row.share) * across(row.first) + row.share * across(row.second);
        const float weighed = probability * things[thing].score;
        own.claimed[thing] += weighed >= static_cast<float>(rules.mask_threshold);
        if (weighed > most) {
          most = weighed;
          best = thing;
        }
      }
      ++own.won[best];
      *id++ = static_cast<std::int32_t>(best);
    }
    const std::lock_guard lock(adding);
    for (std::size_t thing = 0; thing < things.size(); ++thing) {
      areas.claimed[thing] += own.claimed[thing];
      areas.won[thing] += own.won[thing];
    }
  });

  std::vector<std::int32_t> id_of(things.size(), 0);
  for (std::size_t thing = 0; thing < things.size(); ++thing) {
    // The ratio has single precision, as in PyTorch.
    const float share = static_cast<float>(areas.won[thing]) / static_cast<float>(areas.claimed[thing]);
    if (areas.won[thing] == 0 || areas.claimed[thing] == 0 || share <= rules.overlap) continue;
    id_of[thing] = static_cast<std::int32_t>(result.segments.size()) + 1;
    result.segments.push_back({id_of[thing], things[thing].label, things[thing].score, areas.won[thing]});
  }
  for (std::int32_t& id : result.ids) id = id_of[static_cast<std::size_t>(id)];
  return result;
}

Image ImageOfIds(const Segmentation& segmentation) {
  Image image{.height = segmentation.height, .width = segmentation.width};
  image.pixels.reserve(segmentation.ids.size() * 3);
  for (const std::int32_t id : segmentation.ids)
    for (const int shift : {0, 8, 16}) image.pixels.push_back(static_cast<std::uint8_t>(id >> shift));
  return image;
}

}  // namespace headlight
