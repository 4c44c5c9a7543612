#include "headlight/synthetic/shape_scenes.h"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/random.h"
#include "headlight/synthetic/scene_canvas.h"

namespace headlight {
namespace {

constexpr std::array<Color, kSceneColors> kColors = {{{215, 35, 35},
                                                      {40, 160, 50},
                                                      {40, 75, 215},
                                                      {240, 215, 50},
                                                      {246, 246, 246},
                                                      {15, 15, 15},
                                                      {115, 70, 30},
                                                      {145, 45, 170}}};
constexpr std::array<double, kSceneSizes> kRadii = {0.11, 0.2};  // relative to the image's side
constexpr double kLeastHidden = 0.08, kMostHidden = 0.45;        // limits on the hidden fraction of a shape's area

// Returns shapes of random kinds in distinct cells, from back to front.
std::vector<SceneShape> RandomShapes(Random& random, std::size_t count) {
  std::array<std::int32_t, kScenePlaces> places;
  std::iota(places.begin(), places.end(), 0);
  std::vector<SceneShape> shapes(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(places[i], places[i + random.Below(places.size() - i)]);
    shapes[i] = {.kind = static_cast<std::int32_t>(random.Below(kSceneKinds)),
                 .color = static_cast<std::int32_t>(random.Below(kSceneColors)),
                 .size = static_cast<std::int32_t>(random.Below(kSceneSizes)),
                 .place = places[i]};
  }
  return shapes;
}

// Places the shape near the center of its cell, entirely within the image.
Shape2d Placed(Random& random, const SceneShape& shape, double side) {
  const double radius = side * kRadii[static_cast<std::size_t>(shape.size)] * Between(random, 0.92, 1.08);
  const auto near = [&](std::int32_t cell) {
    return std::clamp(side * (0.5 + 0.26 * (cell - 1) + Between(random, -0.05, 0.05)), radius, side - radius);
  };
  const double x = near(shape.column()), y = near(shape.row());
  const double upright = shape.kind == kStar ? -std::numbers::pi / 2 : 0;
  Color color = kColors[static_cast<std::size_t>(shape.color)];
  for (double& channel : color) channel += Between(random, -9, 9);
  return {shape.kind, x, y, radius, upright + Between(random, -0.25, 0.25), color};
}

// Computes how the shapes overlap. Returns nothing if the hidden fraction of a shape is too large, or too small to be
// visible.
std::optional<ShapeScene> PlaceShapes(const std::vector<SceneShape>& shapes, const std::vector<Shape2d>& placed,
                                      std::int64_t side) {
  ShapeScene scene;
  scene.shapes = shapes;
  SceneCanvas canvas(side, side);
  std::vector<std::uint8_t> covering(
      static_cast<std::size_t>(side * side));  // per pixel, one bit for each shape that covers it
  std::vector<std::size_t> sizes;              // size of each shape in pixels
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const SceneCanvas::Covered covered = canvas.Draw(placed[i]);
    for (const std::int64_t pixel : covered.pixels)
      covering[static_cast<std::size_t>(pixel)] |= static_cast<std::uint8_t>(1U << i);
    sizes.push_back(covered.pixels.size());
    scene.boxes.push_back({covered.box, shapes[i].label(), static_cast<double>(covered.pixels.size()), false});
  }

  // hidden[by][of]: the number of pixels of shape `of` that shape `by` hides.
  std::array<std::array<std::size_t, kMostSceneShapes>, kMostSceneShapes> hidden = {};
  for (const std::uint8_t here : covering)
    for (std::size_t of = 0; of < shapes.size(); ++of) {
      // The shape does not cover the pixel, or is the foremost shape.
      if ((here >> of & 1U) == 0 || here >> of == 1U) continue;
      scene.boxes[of].area -= 1;
      for (std::size_t by = of + 1; by < shapes.size(); ++by) hidden[by][of] += here >> by & 1U;
    }
  for (std::size_t of = 0; of < shapes.size(); ++of) {
    const auto size = static_cast<double>(sizes[of]);
    if (scene.boxes[of].area < (1 - kMostHidden) * size) return std::nullopt;
    for (std::size_t by = of + 1; by < shapes.size(); ++by) {
      const double share = static_cast<double>(hidden[by][of]) / size;
      if (share > 0 && share < kLeastHidden) return std::nullopt;
      // If two shapes have the same color, it is not visible which one is in front.
      if (share > 0 && shapes[by].color == shapes[of].color) return std::nullopt;
      scene.hides[by][of] = share > 0;
    }
  }
  return scene;
}

Image Draw(Random& random, const std::vector<Shape2d>& placed, std::int64_t side) {
  SceneCanvas canvas(side, side);
  const double gray = Between(random, 130, 185), noise = Between(random, 0, 8), slope = Between(random, -25, 25);
  const Color tint = {Between(random, -10, 10), Between(random, -10, 10), Between(random, -10, 10)};
  canvas.Fill([&](std::int64_t, std::int64_t y) {
    Color color = tint;
    for (double& channel : color)
      channel +=
          gray + slope * (static_cast<double>(y) / static_cast<double>(side) - 0.5) + Between(random, -noise, noise);
    return color;
  });
  for (const Shape2d& shape : placed) canvas.Draw(shape);
  return canvas.image();
}

// Draws the shapes. Returns nothing if they cannot be placed in a few attempts.
std::optional<ShapeScene> TrySampleScene(Random& random, const std::vector<SceneShape>& shapes, std::int64_t side) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::vector<Shape2d> placed;
    for (const SceneShape& shape : shapes) placed.push_back(Placed(random, shape, static_cast<double>(side)));
    std::optional<ShapeScene> scene = PlaceShapes(shapes, placed, side);
    if (!scene) continue;
    scene->image = Draw(random, placed, side);
    return scene;
  }
  return std::nullopt;
}

// Returns all sets of shapes that differ in one attribute of one shape, in random order. The changed attribute (size,
// color, kind or position) and its new value are uniformly distributed.
std::vector<std::vector<SceneShape>> Changes(Random& random, const std::vector<SceneShape>& shapes) {
  std::vector<std::vector<std::vector<SceneShape>>> groups;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto change = [&](std::int32_t SceneShape::*attribute, std::int32_t values) {
      groups.emplace_back();
      for (std::int32_t value = 0; value < values; ++value) {
        std::vector<SceneShape> changed = shapes;
        changed[i].*attribute = value;
        const bool taken = std::ranges::count(changed, changed[i].place, &SceneShape::place) > 1;
        if (changed != shapes && !taken) groups.back().push_back(std::move(changed));
      }
    };
    change(&SceneShape::size, kSceneSizes);
    change(&SceneShape::color, kSceneColors);
    change(&SceneShape::kind, kSceneKinds);
    change(&SceneShape::place, kScenePlaces);
  }
  std::vector<std::vector<SceneShape>> order;
  while (!groups.empty()) {
    const std::size_t group = random.Below(groups.size());
    if (groups[group].empty()) {
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(group));
      continue;
    }
    const std::size_t one = random.Below(groups[group].size());
    order.push_back(std::move(groups[group][one]));
    groups[group].erase(groups[group].begin() + static_cast<std::ptrdiff_t>(one));
  }
  return order;
}

}  // namespace

Portion PortionOf(const std::vector<SceneShape>& shapes) {
  // For each cell: color, kind and size of its shape as a number from 1, or 0 if empty.
  std::array<std::int32_t, kScenePlaces> at = {};
  for (const SceneShape& shape : shapes)
    at[static_cast<std::size_t>(shape.place)] = 1 + shape.label() * kSceneSizes + shape.size;
  const std::uint64_t hash = HashOf({reinterpret_cast<const char*>(at.data()), sizeof(at)});
  return hash % 10 == 0 ? Portion::held_out : Portion::training;
}

ShapeScene DrawShapeScene(std::uint64_t seed, std::uint64_t number, Portion portion, const ShapeSceneOptions& options) {
  Check(options.side >= 32 && options.side <= 1024, "a scene of shapes must have a side of 32 to 1024 pixels, not {}",
        options.side);
  Check(options.fewest >= 1 && options.fewest <= options.most &&
            options.most <= static_cast<std::int32_t>(kMostSceneShapes),
        "a scene must have 1 to {} shapes, not {} to {}", kMostSceneShapes, options.fewest, options.most);
  Random random(seed, number);
  if (options.twins && number % 2 == 1) {
    const ShapeScene before = DrawShapeScene(seed, number - 1, portion, options);
    for (const std::vector<SceneShape>& shapes : Changes(random, before.shapes))
      if (PortionOf(shapes) == portion)
        if (std::optional<ShapeScene> scene = TrySampleScene(random, shapes, options.side)) return *std::move(scene);
  }
  const auto count = static_cast<std::size_t>(options.fewest) +
                     random.Below(static_cast<std::uint64_t>(options.most - options.fewest) + 1);
  for (;;) {
    const std::vector<SceneShape> shapes = RandomShapes(random, count);
    if (PortionOf(shapes) != portion) continue;
    if (std::optional<ShapeScene> scene = TrySampleScene(random, shapes, options.side)) return *std::move(scene);
  }
}

SceneContent ContentOfBoxes(std::span<const LabeledBox> boxes, double side) {
  constexpr double kLeastLarge = 0.26, kFirstBorder = 0.37, kSecondBorder = 0.63;  // relative to the image's side
  SceneContent content;
  for (const LabeledBox& one : boxes) {
    Check(one.label >= 0 && one.label < kSceneKinds * kSceneColors,
          "a box has class {}, but shapes have classes 0 to {}", one.label, kSceneKinds * kSceneColors - 1);
    const auto third = [&](double low, double high) {
      const double middle = (low + high) / 2 / side;
      return (middle > kFirstBorder ? 1 : 0) + (middle > kSecondBorder ? 1 : 0);
    };
    const bool large = std::max(one.box.width(), one.box.height()) > kLeastLarge * side;
    content.shapes.push_back({.kind = one.label % kSceneKinds,
                              .color = one.label / kSceneKinds,
                              .size = large ? 1 : 0,
                              .place = 3 * third(one.box.top, one.box.bottom) + third(one.box.left, one.box.right)});
  }
  return content;
}

}  // namespace headlight
