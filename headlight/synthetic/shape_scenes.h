// Generates synthetic scenes that can be described in words, to train vision-language models without downloads. A scene
// has one to four shapes of named kinds, colors and sizes at named positions. Some shapes partly hide others. See
// synthetic/scene_captions.h and synthetic/scene_questions.h for the texts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/synthetic/grammar.h"

namespace headlight {

inline constexpr std::int32_t kSceneKinds = 6;   // circle, square, triangle, star, cross, ring (SceneLabels)
inline constexpr std::int32_t kSceneColors = 8;  // red, green, blue, yellow, white, black, brown, purple
inline constexpr std::int32_t kSceneSizes =
    2;  // small and large, with a radius of about 0.11 and 0.2 of the image's side
inline constexpr std::int32_t kScenePlaces = 9;  // 3 * row + column, from the top left
inline constexpr std::size_t kMostSceneShapes = 4;

struct SceneShape {
  std::int32_t kind = 0, color = 0, size = 0, place = 0;

  std::int32_t column() const { return place % 3; }
  std::int32_t row() const { return place / 3; }
  /// Returns the class for detectors: a combination of kind and color.
  std::int32_t label() const { return color * kSceneKinds + kind; }
  bool operator==(const SceneShape&) const = default;
};

/// The content of a scene, which captions and questions describe.
struct SceneContent {
  std::vector<SceneShape> shapes;  // shapes at distinct positions
  /// hides[a][b] is true if shape a is in front of shape b and hides a part of it.
  std::array<std::array<bool, kMostSceneShapes>, kMostSceneShapes> hides = {};
};

struct ShapeScene : SceneContent {
  Image image;
  std::vector<LabeledBox> boxes;  // box of each whole shape; the area is the visible part
};

struct ShapeSceneOptions {
  std::int64_t side = 64;             // side of the square image in pixels: 32 to 1024
  std::int32_t fewest = 1, most = 4;  // number of shapes
  /// If true, each scene with an odd number differs from the previous scene in one shape. The size, color, kind or
  /// position of this shape differs. The images and captions of both scenes are then hard negatives of each other. If
  /// no such change is possible, the scene is random.
  bool twins = false;
};

/// Returns scene `number` of a seed. The result is deterministic. A tenth of all combinations of shapes and positions,
/// selected by a hash, is held out from training. A partly hidden shape has 8% to 45% of its area hidden. All other
/// shapes are completely visible. It is therefore always visible which shape is in front. Throws Error for invalid
/// options.
ShapeScene DrawShapeScene(std::uint64_t seed, std::uint64_t number, Portion portion,
                          const ShapeSceneOptions& options = {});

/// Returns the portion of scenes with these shapes. The order of the shapes does not matter.
Portion PortionOf(const std::vector<SceneShape>& shapes);

/// Returns the scene content for boxes in a square image of this side, such as a detector's boxes. Labels are
/// SceneShape::label. Shapes of at most 0.26 of the side are small, and the position is the cell of the box's center.
/// Hidden shapes are unknown. Throws Error for an invalid label.
SceneContent ContentOfBoxes(std::span<const LabeledBox> boxes, double side);

}  // namespace headlight
