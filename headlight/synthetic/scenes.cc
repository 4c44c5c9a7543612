#include "headlight/synthetic/scenes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headlight/base/error.h"
#include "headlight/base/random.h"
#include "headlight/synthetic/scene_canvas.h"

namespace headlight {
namespace {

Color RandomColor(Random& random) {
  return {Between(random, 0, 255), Between(random, 0, 255), Between(random, 0, 255)};
}

// Returns the overlap of the shapes' bounding squares as a fraction of the smaller square.
double Overlap(const Shape2d& a, const Shape2d& b) {
  const auto along = [&](double p, double q) {
    return std::max(0.0, std::min(p + a.radius, q + b.radius) - std::max(p - a.radius, q - b.radius));
  };
  const double smaller = 2 * std::min(a.radius, b.radius);
  return along(a.x, b.x) * along(a.y, b.y) / (smaller * smaller);
}

}  // namespace

const std::vector<std::string>& SceneLabels() {
  static const std::vector<std::string> labels = {"circle", "square", "triangle", "star", "cross", "ring"};
  return labels;
}

Scene DrawScene(std::uint64_t seed, std::uint64_t number, const SceneOptions& options) {
  Check(std::min(options.height, options.width) >= 16 && std::max(options.height, options.width) <= 4096,
        "a scene must have sides of 16 to 4096 pixels, not {} x {}", options.height, options.width);
  Check(options.fewest >= 0 && options.fewest <= options.most && options.most <= 100,
        "a scene must have 0 to 100 shapes, not {} to {}", options.fewest, options.most);
  Check(options.smallest > 0 && options.smallest <= options.largest && options.largest <= 0.5,
        "the radius of a shape must be above 0 and at most 0.5 of the shorter side, not {} to {}", options.smallest,
        options.largest);
  Random random(seed, number);
  const auto height = static_cast<double>(options.height), width = static_cast<double>(options.width);
  const double side = std::min(height, width);
  SceneCanvas canvas(options.height, options.width);

  const Color corner = RandomColor(random), opposite = RandomColor(random);
  const double slope = Between(random, 0, 0.5), noise = Between(random, 0, 12);
  Color background;  // color in the middle of the image
  for (std::size_t i = 0; i < 3; ++i) background[i] = corner[i] + slope / 2 * (opposite[i] - corner[i]);
  canvas.Fill([&](std::int64_t x, std::int64_t y) {
    const double share = slope * (static_cast<double>(x) / width + static_cast<double>(y) / height) / 2;
    Color color;
    for (std::size_t i = 0; i < 3; ++i)
      color[i] = corner[i] + share * (opposite[i] - corner[i]) + Between(random, -noise, noise);
    return color;
  });
  if (options.clutter)
    for (std::uint64_t i = random.Below(9); i-- > 0;) {
      const double x = Between(random, 0, width), y = Between(random, 0, height);
      const double length = random.Below(2) == 0 ? 0 : Between(random, side / 16, side / 3);
      const double angle = Between(random, 0, 2 * std::numbers::pi);
      canvas.Line(x, y, x + length * std::cos(angle), y + length * std::sin(angle), Between(random, 1, 2.5),
                  RandomColor(random));
    }

  std::vector<Shape2d> shapes;
  std::vector<LabeledBox> boxes;
  std::vector<std::int32_t> owner(static_cast<std::size_t>(options.height * options.width),
                                  -1);  // index of the visible shape of each pixel
  const auto wanted = static_cast<std::uint64_t>(options.fewest) +
                      random.Below(static_cast<std::uint64_t>(options.most - options.fewest) + 1);
  constexpr int kTries = 30;
  for (int attempt = 0; shapes.size() < wanted && attempt < kTries * static_cast<int>(wanted); ++attempt) {
    const double radius = side * options.smallest * std::pow(options.largest / options.smallest, random.Uniform());
    Shape2d shape = {.label = static_cast<std::int32_t>(random.Below(SceneLabels().size())),
                     .x = Between(random, radius, width - radius),
                     .y = Between(random, radius, height - radius),
                     .radius = radius,
                     .angle = Between(random, 0, 2 * std::numbers::pi),
                     .color = RandomColor(random)};
    if (!shapes.empty() && random.Below(3) == 0) {  // places the shape across the edge of another shape
      const Shape2d& other = shapes[random.Below(shapes.size())];
      const double distance = Between(random, 0.6, 1) * (radius + other.radius);
      shape.x = std::clamp(other.x + distance * std::cos(shape.angle), radius, width - radius);
      shape.y = std::clamp(other.y + distance * std::sin(shape.angle), radius, height - radius);
    }
    if (Distance(shape.color, background) < 80) continue;
    // Overlapping shapes have different colors, and neither hides most of the other.
    if (std::ranges::any_of(shapes, [&](const Shape2d& other) {
          const double share = Overlap(shape, other);
          return share > 0.5 || (share > 0 && Distance(shape.color, other.color) < 80);
        }))
      continue;
    if (!options.turned) shape.angle = shape.label == kStar ? -std::numbers::pi / 2 : 0;
    shapes.push_back(shape);
    const SceneCanvas::Covered covered = canvas.Draw(shape);
    for (const std::int64_t pixel : covered.pixels)
      owner[static_cast<std::size_t>(pixel)] = static_cast<std::int32_t>(boxes.size());
    boxes.push_back({covered.box, shape.label, 0, false});
  }
  for (const std::int32_t shape : owner)
    if (shape >= 0) boxes[static_cast<std::size_t>(shape)].area += 1;
  return {canvas.image(), std::move(boxes)};
}

}  // namespace headlight
