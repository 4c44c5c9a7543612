// Drawn scenes: shapes of several sizes and colours that overlap, before a background with noise and clutter, with the
// box and the class of each, so that a detector can learn and be evaluated without photographs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/image/box.h"
#include "headlight/image/image.h"

namespace headlight {

struct SceneOptions {
  std::int64_t height = 128, width = 128;  // at least 16
  std::int32_t fewest = 1, most = 6;       // shapes, of which some may be left out where there is no room
  double smallest = 0.06, largest = 0.26;  // radii of shapes, as shares of the shorter side; at most 0.5
  bool turned = true;                      // shapes stand at any angle, else upright
  bool clutter = true;                     // lines and specks that are none of the classes
};

struct Scene {
  Image image;
  std::vector<LabelledBox> boxes;  // the area of each is what others leave visible
};

// circle, square, triangle, star, cross and ring
const std::vector<std::string>& SceneLabels();

// Scene `number` of a seed: the same for the same numbers, and no two alike. The box is that of the whole shape, of
// which another one hides at most half. Throws Error for impossible options.
Scene DrawScene(std::uint64_t seed, std::uint64_t number, const SceneOptions& options = {});

}  // namespace headlight
