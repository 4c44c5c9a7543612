// Computes panoptic segmentations, which divide an image into segments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

struct ImageSegment {
  std::int32_t id = 0;        ///< consecutive, starting at 1
  std::int32_t label_id = 0;  ///< the class index
  double score = 0;           ///< 0 to 1
  std::int64_t area = 0;      ///< in pixels
  std::string label = {};     ///< the name of the class, set by ImageSegmenter
  bool operator==(const ImageSegment&) const = default;
};

struct Segmentation {
  std::int64_t height = 0, width = 0;
  std::vector<std::int32_t> ids = {};       ///< [height, width] the segment id of each pixel, or 0 if it has none
  std::vector<ImageSegment> segments = {};  ///< in the order of their ids
  bool operator==(const Segmentation&) const = default;
};

/// A candidate for a segment.
struct MaskedThing {
  std::int32_t label = 0;
  float score = 0;               ///< 0 to 1
  std::vector<float> mask = {};  ///< the probability of each cell in the grid of masks
};

struct SegmentRules {
  /// A candidate claims the pixels in which its probability times its score is at least this threshold.
  double mask_threshold = 0.5;
  /// A candidate becomes a segment if it wins more than this fraction of the pixels that it claims.
  double overlap = 0.8;
};

/// Computes a panoptic segmentation, as in post_process_panoptic_segmentation of Transformers' DETR. Each pixel is won
/// by the candidate with the highest product of its probability and its score. Probabilities are interpolated
/// bilinearly between cells. Pixels of candidates that do not become segments belong to no segment. Throws Error if a
/// mask does not have the size `masks`.
HEADLIGHT_API Segmentation SegmentsOf(std::span<const MaskedThing> things, ImageSize masks, ImageSize image,
                                      const SegmentRules& rules = {});

/// Returns the ids as an image in the format of COCO's panoptic annotations: red + 256 green + 65536 blue.
HEADLIGHT_API Image ImageOfIds(const Segmentation& segmentation);

}  // namespace headlight
