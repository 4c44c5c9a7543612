// Draws shapes, lines and backgrounds into an image, for synthetic scenes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"

namespace headlight {

using Color = std::array<double, 3>;  // red, green and blue, each from 0 to 255

double Between(Random& random, double least, double most);
double Distance(const Color& a, const Color& b);

/// The index of the star in SceneLabels (synthetic/scenes.h).
inline constexpr std::int32_t kStar = 3;

struct Shape2d {
  std::int32_t label;
  double x, y, radius, angle;  // x, y and radius in pixels; angle in radians
  Color color;
};

class SceneCanvas {
 public:
  SceneCanvas(std::int64_t height, std::int64_t width);

  const Image& image() const { return image_; }

  /// Sets every pixel to color(x, y).
  void Fill(const std::function<Color(std::int64_t x, std::int64_t y)>& color);

  /// Draws a straight line, or a dot if its ends coincide.
  void Line(double x0, double y0, double x1, double y1, double width, const Color& color);

  /// The pixels (y * width + x) of which a shape covers at least half, and their bounding box.
  struct Covered {
    std::vector<std::int64_t> pixels;
    Box box;
  };
  Covered Draw(const Shape2d& shape);

 private:
  void Mix(std::int64_t x, std::int64_t y, const Color& color, double share);

  Image image_;
};

}  // namespace headlight
