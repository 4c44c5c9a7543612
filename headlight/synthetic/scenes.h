// Synthetic scenes: overlapping shapes of several sizes and colours on a background with noise and clutter, with the
// box and the class of each, to train and evaluate detectors without photographs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/image/box.h"
#include "headlight/image/image.h"

namespace headlight {

struct SceneOptions {
  std::int64_t height = 128, width = 128;  // at least 16
  std::int32_t fewest = 1, most = 6;       // shapes, some of which may be left out if there is no space
  double smallest = 0.06, largest = 0.26;  // radii of shapes, relative to the shorter side; at most 0.5
  bool turned = true;                      // shapes are rotated randomly, otherwise upright
  bool clutter = true;                     // lines and dots that belong to no class
};

struct Scene {
  Image image;
  std::vector<LabelledBox> boxes;  // the area of each is its visible part
};

/// circle, square, triangle, star, cross and ring
const std::vector<std::string>& SceneLabels();

/// Scene `number` of a seed, deterministic and different for each number. A box is that of the whole shape, of which
/// other shapes hide at most half. Throws Error for invalid options.
Scene DrawScene(std::uint64_t seed, std::uint64_t number, const SceneOptions& options = {});

}  // namespace headlight
