// Augmentation of pictures together with their boxes, for detection.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/box.h"
#include "headlight/image/crop.h"
#include "headlight/image/picture.h"

namespace headlight {

struct BoxedPicture {
  Picture picture;
  std::vector<LabelledBox> boxes;
};

// Boxes are clipped to the region, and those of which nothing is left are dropped; their areas are the boxes' then.
HEADLIGHT_API BoxedPicture CropBoxed(const BoxedPicture& boxed, const Region& region);
HEADLIGHT_API BoxedPicture FlipBoxed(const BoxedPicture& boxed);
HEADLIGHT_API BoxedPicture ResizeBoxed(const BoxedPicture& boxed, std::int64_t height, std::int64_t width);

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
HEADLIGHT_API BoxedPicture RandomScaleAndCrop(const BoxedPicture& boxed, const ScaleAndCrop& options, Random& random);

}  // namespace headlight
