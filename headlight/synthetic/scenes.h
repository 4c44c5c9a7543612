// Generates synthetic scenes to train and evaluate detectors without photographs. A scene has overlapping shapes of
// several sizes and colors on a background with noise and clutter. Each shape has a box and a class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/image/box.h"
#include "headlight/image/image.h"

namespace headlight {

struct SceneOptions {
  std::int64_t height = 128, width = 128;  // pixels; at least 16
  std::int32_t fewest = 1, most = 6;       // number of shapes; fewer if there is no space
  double smallest = 0.06, largest = 0.26;  // radii of shapes, relative to the shorter side; at most 0.5
  bool turned = true;                      // if true, shapes are rotated randomly; otherwise they are upright
  bool clutter = true;                     // if true, draws lines and dots that belong to no class
};

struct Scene {
  Image image;
  std::vector<LabeledBox> boxes;  // LabeledBox::area is the visible area of a shape
};

/// Returns the class names: circle, square, triangle, star, cross, ring.
const std::vector<std::string>& SceneLabels();

/// Returns scene `number` of a seed. The scene is deterministic and different for each number. A box contains the whole
/// shape, of which other shapes hide at most half. Throws Error for invalid options.
Scene DrawScene(std::uint64_t seed, std::uint64_t number, const SceneOptions& options = {});

}  // namespace headlight
