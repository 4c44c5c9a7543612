// Crops, flips, shifts and rotates images as torchvision's transforms do with Pillow.
#pragma once

#include <array>
#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/image.h"
#include "headlight/image/processor.h"

namespace headlight {

/// A rectangle in pixels, which may extend beyond the image.
struct Region {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Region&) const = default;
};

/// Crops the image to a region. Pixels outside of the image are black.
HEADLIGHT_API Image Crop(const Image& image, const Region& region);
HEADLIGHT_API Image FlipHorizontally(const Image& image);

struct Range {
  double least = 0, most = 0;
};

/// Returns a random region as in torchvision's RandomResizedCrop (from Szegedy et al., "Going Deeper with
/// Convolutions", 2015, section 6). Its area relative to the image is in the range `share`, and its aspect ratio (width
/// / height) is from 3/4 to 4/3. If ten random regions do not fit into the image, returns the largest centered region
/// with an allowed aspect ratio.
HEADLIGHT_API Region RandomRegion(ImageSize size, Range share, Random& random);

/// Applies an affine transform. Pixel (x, y) of the result is the image's nearest pixel to (m0 x + m1 y + m2, m3 x + m4
/// y + m5), measured between pixel centers. Pixels outside of the image are black.
HEADLIGHT_API Image Transform(const Image& image, const std::array<double, 6>& matrix);
/// Shift rows to the right, or columns down, in proportion to their distance from the first row or column.
HEADLIGHT_API Image ShearX(const Image& image, double tangent);
HEADLIGHT_API Image ShearY(const Image& image, double tangent);
HEADLIGHT_API Image Translate(const Image& image, std::int64_t right, std::int64_t down);
/// Rotates the image counter-clockwise around its center.
HEADLIGHT_API Image Rotate(const Image& image, double degrees);

}  // namespace headlight
