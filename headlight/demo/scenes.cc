#include "headlight/demo/scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "headlight/base/error.h"
#include "headlight/base/random.h"

namespace headlight {
namespace {

using Color = std::array<double, 3>;  // of 0 to 255

constexpr std::array<double, 4> kSamples = {0.125, 0.375, 0.625, 0.875};  // along each side of a pixel

double Between(Random& random, double least, double most) { return least + (most - least) * random.Uniform(); }

Color RandomColor(Random& random) {
  return {Between(random, 0, 255), Between(random, 0, 255), Between(random, 0, 255)};
}

double Distance(const Color& a, const Color& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

constexpr std::int32_t kStar = 3;

// A shape around (0, 0) within the circle of radius 1.
bool Inside(std::int32_t label, double x, double y) {
  const double radius = std::hypot(x, y);
  switch (label) {
    case 0:
      return radius <= 1;
    case 1:
      return std::max(std::abs(x), std::abs(y)) <= std::numbers::sqrt2 / 2;
    case 2:  // of equal sides, which are half a radius from the centre
      return y <= 0.5 && std::abs(x) * std::numbers::sqrt3 - y <= 1;
    case kStar: {  // five points: a straight edge from each, at radius 1, to the notch beside it
      const double notch = 0.45, sector = std::numbers::pi / 5;
      double angle = std::fmod(std::atan2(y, x) + 2 * std::numbers::pi, 2 * sector);
      angle = std::min(angle, 2 * sector - angle);  // from the nearest point
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

struct Shape2d {
  std::int32_t label;
  double x, y, radius, angle;
  Color color;
};

class Canvas {
 public:
  Canvas(std::int64_t height, std::int64_t width)
      : scene_{{height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * 3))}, {}},
        owner_(static_cast<std::size_t>(height * width), -1) {}

  Scene Take() && {
    for (const std::int32_t owner : owner_)
      if (owner >= 0) scene_.boxes[static_cast<std::size_t>(owner)].area += 1;
    return std::move(scene_);
  }

  // color(x, y) of every pixel.
  void Fill(const auto& color) {
    for (std::int64_t y = 0; y < scene_.picture.height; ++y)
      for (std::int64_t x = 0; x < scene_.picture.width; ++x) Mix(x, y, color(x, y), 1);
  }

  // A straight line, or a speck where its ends are one.
  void Line(double x0, double y0, double x1, double y1, double width, const Color& color) {
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    const auto inside = [&](double x, double y) {
      const double along = length == 0 ? 0 : std::clamp(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0);
      return std::hypot(x - x0 - along * dx, y - y0 - along * dy) <= width / 2;
    };
    Cover(std::min(x0, x1) - width, std::min(y0, y1) - width, std::max(x0, x1) + width, std::max(y0, y1) + width,
          inside, [&](std::int64_t x, std::int64_t y, double share) { Mix(x, y, color, share); });
  }

  void Draw(const Shape2d& shape) {
    const double cos = std::cos(shape.angle) / shape.radius, sin = std::sin(shape.angle) / shape.radius;
    const auto inside = [&](double x, double y) {
      return Inside(shape.label, (x - shape.x) * cos + (y - shape.y) * sin, (y - shape.y) * cos - (x - shape.x) * sin);
    };
    const auto number = static_cast<std::int32_t>(scene_.boxes.size());
    const auto height = static_cast<double>(scene_.picture.height), width = static_cast<double>(scene_.picture.width);
    Box box = {width, height, 0, 0};
    Cover(shape.x - shape.radius, shape.y - shape.radius, shape.x + shape.radius, shape.y + shape.radius, inside,
          [&](std::int64_t x, std::int64_t y, double share) {
            Mix(x, y, shape.color, share);
            if (share < 0.5) return;
            owner_[static_cast<std::size_t>(y * scene_.picture.width + x)] = number;
            box = {std::min(box.left, static_cast<double>(x)), std::min(box.top, static_cast<double>(y)),
                   std::max(box.right, static_cast<double>(x + 1)), std::max(box.bottom, static_cast<double>(y + 1))};
          });
    scene_.boxes.push_back({box, shape.label, 0, false});
  }

 private:
  // Calls paint(x, y, share) for the pixels between these sides of which a share is inside.
  void Cover(double left, double top, double right, double bottom, const auto& inside, const auto& paint) const {
    const auto at_least = [](double side) { return std::max<std::int64_t>(0, static_cast<std::int64_t>(side)); };
    const std::int64_t end_x = std::min(scene_.picture.width, static_cast<std::int64_t>(right) + 1);
    const std::int64_t end_y = std::min(scene_.picture.height, static_cast<std::int64_t>(bottom) + 1);
    for (std::int64_t y = at_least(top); y < end_y; ++y)
      for (std::int64_t x = at_least(left); x < end_x; ++x) {
        int count = 0;
        for (const double sy : kSamples)
          for (const double sx : kSamples)
            count += inside(static_cast<double>(x) + sx, static_cast<double>(y) + sy) ? 1 : 0;
        if (count > 0) paint(x, y, count / 16.0);
      }
  }

  void Mix(std::int64_t x, std::int64_t y, const Color& color, double share) {
    std::uint8_t* const pixel = scene_.picture.row(y) + x * 3;
    for (std::size_t i = 0; i < 3; ++i)
      pixel[i] = static_cast<std::uint8_t>(std::clamp(std::lround(pixel[i] + share * (color[i] - pixel[i])), 0L, 255L));
  }

  Scene scene_;
  std::vector<std::int32_t> owner_;  // the shape that is seen at each pixel; -1: none
};

// The share of the smaller of two circles' squares that the other covers.
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
        "a scene has sides of 16 to 4096 pixels, not {} x {}", options.height, options.width);
  Check(options.fewest >= 0 && options.fewest <= options.most && options.most <= 100,
        "a scene has 0 to 100 shapes, not {} to {}", options.fewest, options.most);
  Check(options.smallest > 0 && options.smallest <= options.largest && options.largest <= 0.5,
        "the radius of a shape is above 0 and at most 0.5 of the shorter side, not {} to {}", options.smallest,
        options.largest);
  Random random(seed, number);
  const auto height = static_cast<double>(options.height), width = static_cast<double>(options.width);
  const double side = std::min(height, width);
  Canvas canvas(options.height, options.width);

  const Color corner = RandomColor(random), opposite = RandomColor(random);
  const double slope = Between(random, 0, 0.5), noise = Between(random, 0, 12);
  Color background;  // in the middle
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
    if (!shapes.empty() && random.Below(3) == 0) {  // beside another one, over its edge
      const Shape2d& other = shapes[random.Below(shapes.size())];
      const double distance = Between(random, 0.6, 1) * (radius + other.radius);
      shape.x = std::clamp(other.x + distance * std::cos(shape.angle), radius, width - radius);
      shape.y = std::clamp(other.y + distance * std::sin(shape.angle), radius, height - radius);
    }
    if (Distance(shape.color, background) < 80) continue;
    // Two that touch have colours that differ, and neither hides most of the other.
    if (std::ranges::any_of(shapes, [&](const Shape2d& other) {
          const double share = Overlap(shape, other);
          return share > 0.5 || (share > 0 && Distance(shape.color, other.color) < 80);
        }))
      continue;
    if (!options.turned) shape.angle = shape.label == kStar ? -std::numbers::pi / 2 : 0;
    shapes.push_back(shape);
    canvas.Draw(shape);
  }
  return std::move(canvas).Take();
}

}  // namespace headlight
