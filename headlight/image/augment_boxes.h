// Augmentation of images together with their boxes, for detection. A change is drawn for an image's size alone, so
// that its boxes are known before its pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/box.h"
#include "headlight/image/crop.h"
#include "headlight/image/image.h"

namespace headlight {

// Of an image and its boxes: flipped left to right, resized and cut to a region, and resized to `size`.
struct BoxedChange {
  struct Cut {
    ImageSize size;
    Region region;  // of the image of that size
  };
  bool flip = false;
  std::optional<Cut> cut = {};
  ImageSize size;
};

HEADLIGHT_API Image Changed(const Image& image, const BoxedChange& change);
// The boxes of an image of size `from`. They are clipped to the region, and those of which nothing is left are
// dropped; their areas are the boxes' then.
HEADLIGHT_API std::vector<LabelledBox> Changed(const std::vector<LabelledBox>& boxes, ImageSize from,
                                               const BoxedChange& change);

// DETR's (Carion et al., "End-to-End Object Detection with Transformers", 2020, section 4): flipped with probability
// 1/2; then, with probability 1/2, resized so that the shorter side is one of `first_sides` and cropped to sides of
// `least_crop` to `most_crop` pixels; and resized so that the shorter side is one of `sides`, the longer one at most
// `longest`.
struct ScaleAndCrop {
  std::vector<std::int64_t> first_sides = {400, 500, 600};
  std::int64_t least_crop = 384, most_crop = 600;
  std::vector<std::int64_t> sides = {480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800};
  std::int64_t longest = 1333;
};
HEADLIGHT_API BoxedChange RandomScaleAndCrop(ImageSize image, const ScaleAndCrop& options, Random& random);

}  // namespace headlight
