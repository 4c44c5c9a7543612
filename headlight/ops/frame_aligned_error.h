// The frame-aligned point error (FAPE) (Jumper et al., "Highly accurate protein structure prediction with AlphaFold",
// 2021, supplement, algorithm 28).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Frames [rows, 12 * n] and points [rows, 3 * n]. A frame is a row-major rotation followed by a translation. A point
/// is x, y, z. Each row, such as a residue, may have several frames and points.
struct FramesAndPoints {
  Tensor frames, points;
};

struct FrameAlignedErrorOptions {
  double clamp = 10;         ///< upper bound of distances in angstrom
  double clamped_share = 1;  ///< weight of the clamped loss; the unclamped loss has weight 1 - clamped_share
  double unit = 10;          ///< distance in angstrom with a loss of 1
  double epsilon = 1e-4;     ///< added under the square root and to both denominators
};

/// Returns scale times the mean of the distances between predicted and true points in local coordinates, of shape [1].
/// The mean is over all known frames and known points. `frame_known` and `point_known` have one byte per frame and
/// point, 0 if it is ignored. Only the prediction has a gradient. Pairs are not stored, but there is one gradient of
/// the points in memory for every 64 frames. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor FrameAlignedError(const FramesAndPoints& predicted, const FramesAndPoints& truth,
                                       std::span<const std::uint8_t> frame_known,
                                       std::span<const std::uint8_t> point_known,
                                       const FrameAlignedErrorOptions& options, double scale);

}  // namespace headlight::ops
