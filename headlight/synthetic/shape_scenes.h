// Drawn scenes that words can tell of: one to four shapes of named kinds, colours and sizes at named places, some of
// which hide a part of another, so that models of images and texts learn without any download.
// synthetic/scene_captions.h and synthetic/scene_questions.h have the words.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/synthetic/grammar.h"

namespace headlight {

inline constexpr std::int32_t kSceneKinds = 6;    // circle, square, triangle, star, cross, ring (SceneLabels)
inline constexpr std::int32_t kSceneColours = 8;  // red, green, blue, yellow, white, black, brown, purple
inline constexpr std::int32_t kSceneSizes = 2;    // small, large: of about 0.11 and 0.2 of the image's side as radius
inline constexpr std::int32_t kScenePlaces = 9;   // 3 * row + column, from the top left
inline constexpr std::size_t kMostSceneShapes = 4;

struct SceneShape {
  std::int32_t kind = 0, colour = 0, size = 0, place = 0;

  std::int32_t column() const { return place % 3; }
  std::int32_t row() const { return place / 3; }
  // In the number of a shape and its colour, by which a detector tells them apart.
  std::int32_t label() const { return colour * kSceneKinds + kind; }
  bool operator==(const SceneShape&) const = default;
};

// The contents of a scene, to which captions and questions refer.
struct SceneContent {
  std::vector<SceneShape> shapes;  // each at a place of its own
  // hides[a][b]: shape a lies before shape b, and hides a part of it.
  std::array<std::array<bool, kMostSceneShapes>, kMostSceneShapes> hides = {};
};

struct ShapeScene : SceneContent {
  Image image;
  std::vector<LabelledBox> boxes;  // of each shape, whole; the area is what others leave visible
};

struct ShapeSceneOptions {
  std::int64_t side = 64;             // of the square image, in pixels: 32 to 1024
  std::int32_t fewest = 1, most = 4;  // shapes
  // Each scene with an odd number is the one before it but for the size, the colour, the kind or the place of one
  // shape, and drawn anew: near misses of each other, in images as in words. Where no such change can be drawn, it is
  // any other scene.
  bool twins = false;
};

// Scene `number` of a seed: the same for the same numbers. One content in ten, by a hash of its shapes with their
// places, is held out and never for training. A shape that is partly hidden is hidden by 8% to 45% of its area, others
// not at all; so whether one lies before another is always plain to see. Throws Error for impossible options.
ShapeScene DrawShapeScene(std::uint64_t seed, std::uint64_t number, Portion portion,
                          const ShapeSceneOptions& options = {});

// The portion of scenes with these shapes, which does not depend on their order.
Portion PortionOf(const std::vector<SceneShape>& shapes);

// What boxes in a square image of this side show, such as those of a detector: their labels are SceneShape::label, an
// extent below 0.26 of the side is small, and the place is that of the middle. What hides what, boxes do not tell.
// Throws Error for a label that no shape has.
SceneContent ContentOfBoxes(std::span<const LabelledBox> boxes, double side);

}  // namespace headlight
