#include "headlight/image/crop.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headlight/base/error.h"

namespace headlight {
namespace {

Picture Black(std::int64_t height, std::int64_t width) {
  Picture picture{.height = height, .width = width};
  picture.pixels.resize(static_cast<std::size_t>(height * width * 3));
  return picture;
}

// As Python's: halves go to the even number.
std::int64_t Rounded(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

}  // namespace

Picture Crop(const Picture& picture, const Region& region) {
  Check(region.height >= 1 && region.width >= 1, "a picture cannot be cropped to {} x {}", region.width, region.height);
  Picture cropped = Black(region.height, region.width);
  const std::int64_t begin = std::max<std::int64_t>(region.left, 0);
  const std::int64_t end = std::min(region.left + region.width, picture.width);
  if (begin >= end) return cropped;
  for (std::int64_t y = std::max<std::int64_t>(region.top, 0); y < std::min(region.top + region.height, picture.height);
       ++y)
    std::copy_n(picture.row(y) + 3 * begin, 3 * (end - begin), cropped.row(y - region.top) + 3 * (begin - region.left));
  return cropped;
}

Picture FlipHorizontally(const Picture& picture) {
  Picture flipped = Black(picture.height, picture.width);
  for (std::int64_t y = 0; y < picture.height; ++y) {
    const std::uint8_t* from = picture.row(y) + 3 * picture.width;
    std::uint8_t* to = flipped.row(y);
    for (std::int64_t x = 0; x < picture.width; ++x, to += 3) std::copy_n(from -= 3, 3, to);
  }
  return flipped;
}

Region RandomRegion(PictureSize size, Range share, Random& random) {
  constexpr double narrowest = 3.0 / 4, widest = 4.0 / 3;
  const auto height = static_cast<double>(size.height), width = static_cast<double>(size.width);
  const double least = std::log(narrowest), most = std::log(widest);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = height * width * (share.least + (share.most - share.least) * random.Uniform());
    const double aspect = std::exp(least + (most - least) * random.Uniform());
    const std::int64_t w = Rounded(std::sqrt(area * aspect)), h = Rounded(std::sqrt(area / aspect));
    if (w < 1 || h < 1 || w > size.width || h > size.height) continue;
    const auto top = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(size.height - h + 1)));
    const auto left = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(size.width - w + 1)));
    return {top, left, h, w};
  }
  Region centre{.height = size.height, .width = size.width};
  if (width / height < narrowest) centre.height = std::min(size.height, Rounded(width / narrowest));
  if (width / height > widest) centre.width = std::min(size.width, Rounded(height * widest));
  centre.top = (size.height - centre.height) / 2;
  centre.left = (size.width - centre.width) / 2;
  return centre;
}

Picture Transform(const Picture& picture, const std::array<double, 6>& m) {
  // Pillow's: 16 bits after the point.
  constexpr int bits = 16;
  const auto fixed = [](double value) { return static_cast<std::int64_t>(std::floor(value * (1 << bits) + 0.5)); };
  const std::int64_t x_of_x = fixed(m[0]), x_of_y = fixed(m[1]), y_of_x = fixed(m[3]), y_of_y = fixed(m[4]);
  std::int64_t first_x = fixed(m[2] + m[0] * 0.5 + m[1] * 0.5), first_y = fixed(m[5] + m[3] * 0.5 + m[4] * 0.5);
  Picture moved = Black(picture.height, picture.width);
  for (std::int64_t y = 0; y < picture.height; ++y, first_x += x_of_y, first_y += y_of_y) {
    std::uint8_t* to = moved.row(y);
    std::int64_t at_x = first_x, at_y = first_y;
    for (std::int64_t x = 0; x < picture.width; ++x, to += 3, at_x += x_of_x, at_y += y_of_x) {
      const std::int64_t from_x = at_x >> bits, from_y = at_y >> bits;
      if (from_x >= 0 && from_x < picture.width && from_y >= 0 && from_y < picture.height)
        std::copy_n(picture.row(from_y) + 3 * from_x, 3, to);
    }
  }
  return moved;
}

Picture ShearX(const Picture& picture, double tangent) { return Transform(picture, {1, tangent, 0, 0, 1, 0}); }

Picture ShearY(const Picture& picture, double tangent) { return Transform(picture, {1, 0, 0, tangent, 1, 0}); }

Picture Translate(const Picture& picture, std::int64_t right, std::int64_t down) {
  return Crop(picture, {-down, -right, picture.height, picture.width});
}

Picture Rotate(const Picture& picture, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  const auto rounded = [](double value) { return std::nearbyint(value * 1e15) / 1e15; };
  const double cosine = rounded(std::cos(angle)), sine = rounded(std::sin(angle));
  const double x = static_cast<double>(picture.width) / 2, y = static_cast<double>(picture.height) / 2;
  return Transform(picture, {cosine, sine, x - cosine * x - sine * y, -sine, cosine, y + sine * x - cosine * y});
}

}  // namespace headlight
