// Cropping, flipping, shifting and rotating images, as torchvision's transforms do with Pillow.
#pragma once

#include <array>
#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/image.h"
#include "headlight/image/processor.h"

namespace headlight {

/// In pixels; may extend beyond the image.
struct Region {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Region&) const = default;
};

/// Pixels outside of the image are black.
HEADLIGHT_API Image Crop(const Image& image, const Region& region);
HEADLIGHT_API Image FlipHorizontally(const Image& image);

struct Range {
  double least = 0, most = 0;
};

/// A random region as in torchvision's RandomResizedCrop (from Szegedy et al., "Going Deeper with Convolutions", 2015,
/// section 6). Its relative area is within `share`, and its aspect ratio (width to height) is 3/4 to 4/3. If ten random
/// regions do not fit into the image, it is the largest centred one with an allowed aspect ratio.
HEADLIGHT_API Region RandomRegion(ImageSize size, Range share, Random& random);

/// An affine transform: pixel (x, y) is the nearest one of the image at (m0 x + m1 y + m2, m3 x + m4 y + m5), measured
/// between pixel centres; black outside of the image.
HEADLIGHT_API Image Transform(const Image& image, const std::array<double, 6>& matrix);
/// Shifts rows (columns) to the right (down) in proportion to their distance from the first one.
HEADLIGHT_API Image ShearX(const Image& image, double tangent);
HEADLIGHT_API Image ShearY(const Image& image, double tangent);
HEADLIGHT_API Image Translate(const Image& image, std::int64_t right, std::int64_t down);
HEADLIGHT_API Image Rotate(const Image& image, double degrees);  // around its centre, counter-clockwise

}  // namespace headlight
