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
  std::int32_t id = 0;        // from 1, without gaps
  std::int32_t label_id = 0;  // its class
  double score = 0;           // 0 to 1
  std::int64_t area = 0;      // pixels
  std::string label = {};     // the name of its class, as ImageSegmenter gives it
  bool operator==(const ImageSegment&) const = default;
};

struct Segmentation {
  std::int64_t height = 0, width = 0;
  std::vector<std::int32_t> ids = {};       // [height, width]: each pixel's segment, 0 where there is none
  std::vector<ImageSegment> segments = {};  // by id
  bool operator==(const Segmentation&) const = default;
};

// A candidate for a segment.
struct MaskedThing {
  std::int32_t label = 0;
  float score = 0;               // 0 to 1
  std::vector<float> mask = {};  // the probability of each cell of the masks' grid
};

struct SegmentRules {
  double mask_threshold = 0.5;  // a candidate claims the pixels where its probability times its score is at least this
  // It becomes a segment if the pixels that it wins are more than this share of those that it claims.
  double overlap = 0.8;
};

// Each pixel belongs to the candidate whose probability there (bilinear between cells) times its score is the largest;
// the pixels of candidates that lose too many to others belong to none. As post_process_panoptic_segmentation of
// Transformers' DETR. All masks are of `masks` cells. Throws Error for a mask of another size.
HEADLIGHT_API Segmentation SegmentsOf(std::span<const MaskedThing> things, ImageSize masks, ImageSize image,
                                      const SegmentRules& rules = {});

// The ids as an image in the format of COCO's panoptic annotations: red + 256 green + 65536 blue.
HEADLIGHT_API Image ImageOfIds(const Segmentation& segmentation);

}  // namespace headlight
