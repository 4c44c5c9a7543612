// The frame-aligned point error, FAPE (Jumper et al., "Highly accurate protein structure prediction with AlphaFold",
// 2021, supplement, algorithm 28).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Frames, a rotation row by row and a translation each, and points, x, y and z each. Rows may hold several of them one
// after another, as those of a residue: [rows, 12 * any], [rows, 3 * any].
struct FramesAndPoints {
  Tensor frames, points;
};

struct FrameAlignedErrorOptions {
  double clamp = 10;         // larger distances count as this one, in angstrom
  double clamped_share = 1;  // of the loss; the rest is of distances as they are
  double unit = 10;          // angstrom of a loss of 1
  double epsilon = 1e-4;     // of the root, and of both means
};

// [1]: scale times the mean over all known frames and all known points of the distance between the point's places in
// the predicted and in the true frame. `frame_known` and `point_known` have a mark for each frame and point, 0 where it
// does not count. Gradients are those of the prediction; the truth has none. Nothing is kept for a pair; the memory
// is a gradient of the points for every 64 frames. Throws Error where the shapes do not fit.
HEADLIGHT_API Tensor FrameAlignedError(const FramesAndPoints& predicted, const FramesAndPoints& truth,
                                       std::span<const std::uint8_t> frame_known,
                                       std::span<const std::uint8_t> point_known,
                                       const FrameAlignedErrorOptions& options, double scale);

}  // namespace headlight::ops
