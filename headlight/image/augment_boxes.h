// Augments images with boxes, for detection. A random change depends only on the image's size, so its effect on the
// boxes is known before the pixels are read.
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

/// A change of an image and its boxes: a horizontal flip, resizing and cropping to a region, and resizing to `size`.
struct BoxedChange {
  struct Cut {
    ImageSize size;
    Region region;  // in pixels of the resized image
  };
  bool flip = false;
  std::optional<Cut> cut = {};
  ImageSize size;
};

HEADLIGHT_API Image Changed(const Image& image, const BoxedChange& change);
/// Returns the boxes after a change of an image of size `from`. Boxes are clipped to the region, and empty boxes are
/// dropped. The area of each object becomes the area of its box.
HEADLIGHT_API std::vector<LabeledBox> Changed(const std::vector<LabeledBox>& boxes, ImageSize from,
                                              const BoxedChange& change);

/// The options of DETR's augmentation (Carion et al., "End-to-End Object Detection with Transformers", 2020, section
/// 4). The image is flipped with probability 1/2. With probability 1/2, its shorter side is resized to one of
/// `first_sides`, and it is cropped to sides of `least_crop` to `most_crop` pixels. Finally, its shorter side is
/// resized to one of `sides`, with the longer side limited to `longest`.
struct ScaleAndCrop {
  std::vector<std::int64_t> first_sides = {400, 500, 600};
  std::int64_t least_crop = 384, most_crop = 600;
  std::vector<std::int64_t> sides = {480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800};
  std::int64_t longest = 1333;
};
HEADLIGHT_API BoxedChange RandomScaleAndCrop(ImageSize image, const ScaleAndCrop& options, Random& random);

}  // namespace headlight
