#include "headlight/synthetic/scene_canvas.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headlight {
namespace {

constexpr std::array<double, 4> kSamples = {0.125, 0.375, 0.625,
                                            0.875};  // subpixel positions along each side of a pixel

// Returns true if the point is inside the shape, which is centered at (0, 0) with radius 1.
bool Inside(std::int32_t label, double x, double y) {
  const double radius = std::hypot(x, y);
  switch (label) {
    case 0:
      return radius <= 1;
    case 1:
      return std::max(std::abs(x), std::abs(y)) <= std::numbers::sqrt2 / 2;
    case 2:  // equilateral triangle, with sides at a distance of half a radius from the center
      return y <= 0.5 && std::abs(x) * std::numbers::sqrt3 - y <= 1;
    case kStar: {  // star with five points; straight edges connect the points, at radius 1, with the notches
      const double notch = 0.45, sector = std::numbers::pi / 5;
      double angle = std::fmod(std::atan2(y, x) + 2 * std::numbers::pi, 2 * sector);
      angle = std::min(angle, 2 * sector - angle);  // angle from the nearest point of the star
      const double px = radius * std::cos(angle), py = radius * std::sin(angle);
      const double nx = notch * std::cos(sector), ny = notch * std::sin(sector);
      return (nx - 1) * py - ny * (px - 1) >= 0;
    }
    case 4:
      return std::max(std::abs(x), std::abs(y)) <= 0.94 && std::min(std::abs(x), std::abs(y)) <= 0.3;
    default:
      return radius <= 1 && radius >= 0.55;
  }
}

// Calls paint(x, y, share) for the pixels of an image within these bounds that are at least partly inside the shape.
// `share` is the covered fraction of the pixel.
void Cover(const Image& image, double left, double top, double right, double bottom, const auto& inside,
           const auto& paint) {
  const auto at_least = [](double side) { return std::max<std::int64_t>(0, static_cast<std::int64_t>(side)); };
  const std::int64_t end_x = std::min(image.width, static_cast<std::int64_t>(right) + 1);
  const std::int64_t end_y = std::min(image.height, static_cast<std::int64_t>(bottom) + 1);
  for (std::int64_t y = at_least(top); y < end_y; ++y)
    for (std::int64_t x = at_least(left); x < end_x; ++x) {
      int count = 0;
      for (const double sy : kSamples)
        for (const double sx : kSamples)
          count += inside(static_cast<double>(x) + sx, static_cast<double>(y) + sy) ? 1 : 0;
      if (count > 0) paint(x, y, count / 16.0);
    }
}

}  // namespace

double Between(Random& random, double least, double most) { return least + (most - least) * random.Uniform(); }

double Distance(const Color& a, const Color& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

SceneCanvas::SceneCanvas(std::int64_t height, std::int64_t width)
    : image_{height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * 3))} {}

void SceneCanvas::Fill(const std::function<Color(std::int64_t x, std::int64_t y)>& color) {
  for (std::int64_t y = 0; y < image_.height; ++y)
    for (std::int64_t x = 0; x < image_.width; ++x) Mix(x, y, color(x, y), 1);
}

void SceneCanvas::Line(double x0, double y0, double x1, double y1, double width, const Color& color) {
  const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
  const auto inside = [&](double x, double y) {
    const double along = length == 0 ? 0 : std::clamp(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0);
    return std::hypot(x - x0 - along * dx, y - y0 - along * dy) <= width / 2;
  };
  Cover(image_, std::min(x0, x1) - width, std::min(y0, y1) - width, std::max(x0, x1) + width, std::max(y0, y1) + width,
        inside, [&](std::int64_t x, std::int64_t y, double share) { Mix(x, y, color, share); });
}

SceneCanvas::Covered SceneCanvas::Draw(const Shape2d& shape) {
  const double cos = std::cos(shape.angle) / shape.radius, sin = std::sin(shape.angle) / shape.radius;
  const auto inside = [&](double x, double y) {
    return Inside(shape.label, (x - shape.x) * cos + (y - shape.y) * sin, (y - shape.y) * cos - (x - shape.x) * sin);
  };
  Covered covered{{}, {static_cast<double>(image_.width), static_cast<double>(image_.height), 0, 0}};
  Box& box = covered.box;
  Cover(image_, shape.x - shape.radius, shape.y - shape.radius, shape.x + shape.radius, shape.y + shape.radius, inside,
        [&](std::int64_t x, std::int64_t y, double share) {
          Mix(x, y, shape.color, share);
          if (share < 0.5) return;
          covered.pixels.push_back(y * image_.width + x);
          box = {std::min(box.left, static_cast<double>(x)), std::min(box.top, static_cast<double>(y)),
                 std::max(box.right, static_cast<double>(x + 1)), std::max(box.bottom, static_cast<double>(y + 1))};
        });
  return covered;
}

void SceneCanvas::Mix(std::int64_t x, std::int64_t y, const Color& color, double share) {
  std::uint8_t* const pixel = image_.row(y) + x * 3;
  for (std::size_t i = 0; i < 3; ++i)
    pixel[i] = static_cast<std::uint8_t>(std::clamp(std::lround(pixel[i] + share * (color[i] - pixel[i])), 0L, 255L));
}

}  // namespace headlight
