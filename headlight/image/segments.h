// Panoptic segmentation: an image divided into segments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

struct ImageSegment {
  std::int32_t id = 0;        // from 1, consecutive
  std::int32_t label_id = 0;  // its class
  double score = 0;           // 0 to 1
  std::int64_t area = 0;      // pixels
  std::string label = {};     // the name of its class, set by ImageSegmenter
  bool operator==(const ImageSegment&) const = default;
};

struct Segmentation {
  std::int64_t height = 0, width = 0;
  std::vector<std::int32_t> ids = {};       // [height, width]: the segment of each pixel, 0 if there is none
  std::vector<ImageSegment> segments = {};  // by id
  bool operator==(const Segmentation&) const = default;
};

/// A candidate for a segment.
struct MaskedThing {
  std::int32_t label = 0;
  float score = 0;               // 0 to 1
  std::vector<float> mask = {};  // the probability of each cell of the mask's grid
};

struct SegmentRules {
  double mask_threshold = 0.5;  // a candidate claims the pixels whose probability times its score is at least this
  /// A candidate becomes a segment if it wins more than this share of the pixels that it claims.
  double overlap = 0.8;
};

/// Computes a panoptic segmentation, like post_process_panoptic_segmentation of Transformers' DETR. Each pixel is won
/// by the candidate with the highest product of its probability (bilinear between cells) and score. Pixels of
/// candidates that win too few belong to no segment. All masks must have `masks` cells; throws Error for a mask of
/// another size.
HEADLIGHT_API Segmentation SegmentsOf(std::span<const MaskedThing> things, ImageSize masks, ImageSize image,
                                      const SegmentRules& rules = {});

/// The ids as an image in the format of COCO's panoptic annotations: red + 256 green + 65536 blue.
HEADLIGHT_API Image ImageOfIds(const Segmentation& segmentation);

}  // namespace headlight
