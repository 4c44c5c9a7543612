#include "headlight/image/crop.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headlight/base/error.h"

namespace headlight {
namespace {

Image Black(std::int64_t height, std::int64_t width) {
  Image image{.height = height, .width = width};
  image.pixels.resize(static_cast<std::size_t>(height * width * 3));
  return image;
}

// Rounds halves to even, as in Python.
std::int64_t Rounded(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

}  // namespace

Image Crop(const Image& image, const Region& region) {
  Check(region.height >= 1 && region.width >= 1, "an image cannot be cropped to {} x {}", region.width, region.height);
  Image cropped = Black(region.height, region.width);
  const std::int64_t begin = std::max<std::int64_t>(region.left, 0);
  const std::int64_t end = std::min(region.left + region.width, image.width);
  if (begin >= end) return cropped;
  for (std::int64_t y = std::max<std::int64_t>(region.top, 0); y < std::min(region.top + region.height, image.height);
       ++y)
    std::copy_n(image.row(y) + 3 * begin, 3 * (end - begin), cropped.row(y - region.top) + 3 * (begin - region.left));
  return cropped;
}

Image FlipHorizontally(const Image& image) {
  Image flipped = Black(image.height, image.width);
  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::uint8_t* from = image.row(y) + 3 * image.width;
    std::uint8_t* to = flipped.row(y);
    for (std::int64_t x = 0; x < image.width; ++x, to += 3) std::copy_n(from -= 3, 3, to);
  }
  return flipped;
}

Region RandomRegion(ImageSize size, Range share, Random& random) {
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
  Region center{.height = size.height, .width = size.width};
  if (width / height < narrowest) center.height = std::min(size.height, Rounded(width / narrowest));
  if (width / height > widest) center.width = std::min(size.width, Rounded(height * widest));
  center.top = (size.height - center.height) / 2;
  center.left = (size.width - center.width) / 2;
  return center;
}

Image Transform(const Image& image, const std::array<double, 6>& m) {
  // Uses fixed-point numbers with 16 fractional bits, as in Pillow.
  constexpr int bits = 16;
  const auto fixed = [](double value) { return static_cast<std::int64_t>(std::floor(value * (1 << bits) + 0.5)); };
  const std::int64_t x_of_x = fixed(m[0]), x_of_y = fixed(m[1]), y_of_x = fixed(m[3]), y_of_y = fixed(m[4]);
  std::int64_t first_x = fixed(m[2] + m[0] * 0.5 + m[1] * 0.5), first_y = fixed(m[5] + m[3] * 0.5 + m[4] * 0.5);
  Image moved = Black(image.height, image.width);
  for (std::int64_t y = 0; y < image.height; ++y, first_x += x_of_y, first_y += y_of_y) {
    std::uint8_t* to = moved.row(y);
    std::int64_t at_x = first_x, at_y = first_y;
    for (std::int64_t x = 0; x < image.width; ++x, to += 3, at_x += x_of_x, at_y += y_of_x) {
      const std::int64_t from_x = at_x >> bits, from_y = at_y >> bits;
      if (from_x >= 0 && from_x < image.width && from_y >= 0 && from_y < image.height)
        std::copy_n(image.row(from_y) + 3 * from_x, 3, to);
    }
  }
  return moved;
}

Image ShearX(const Image& image, double tangent) { return Transform(image, {1, tangent, 0, 0, 1, 0}); }

Image ShearY(const Image& image, double tangent) { return Transform(image, {1, 0, 0, tangent, 1, 0}); }

Image Translate(const Image& image, std::int64_t right, std::int64_t down) {
  return Crop(image, {-down, -right, image.height, image.width});
}

Image Rotate(const Image& image, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  const auto rounded = [](double value) { return std::nearbyint(value * 1e15) / 1e15; };
  const double cosine = rounded(std::cos(angle)), sine = rounded(std::sin(angle));
  const double x = static_cast<double>(image.width) / 2, y = static_cast<double>(image.height) / 2;
  return Transform(image, {cosine, sine, x - cosine * x - sine * y, -sine, cosine, y + sine * x - cosine * y});
}

}  // namespace headlight
