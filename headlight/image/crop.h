// Parts of images, mirrored, moved and turned, as torchvision's transforms do it with Pillow.
#pragma once

#include <array>
#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/image.h"
#include "headlight/image/processor.h"

namespace headlight {

// In pixels; it may reach beyond the image.
struct Region {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Region&) const = default;
};

// Pixels outside of the image are black.
HEADLIGHT_API Image Crop(const Image& image, const Region& region);
HEADLIGHT_API Image FlipHorizontally(const Image& image);

struct Range {
  double least = 0, most = 0;
};

// The region of torchvision's RandomResizedCrop: of an image's area it has a share within `share`, and its width is
// 3/4 to 4/3 of its height (in Szegedy et al., "Going Deeper with Convolutions", 2015, section 6). Where ten draws do
// not fit into the image it is the largest centred one that nearly does.
HEADLIGHT_API Region RandomRegion(ImageSize size, Range share, Random& random);

// Pixel (x, y) is that of the image at (m0 x + m1 y + m2, m3 x + m4 y + m5), between pixel centres the nearest; black
// outside of it.
HEADLIGHT_API Image Transform(const Image& image, const std::array<double, 6>& matrix);
// Rows (columns) move to the right (down) in proportion to their distance from the first.
HEADLIGHT_API Image ShearX(const Image& image, double tangent);
HEADLIGHT_API Image ShearY(const Image& image, double tangent);
HEADLIGHT_API Image Translate(const Image& image, std::int64_t right, std::int64_t down);
HEADLIGHT_API Image Rotate(const Image& image, double degrees);  // about its centre, against the clock

}  // namespace headlight
