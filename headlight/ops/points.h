// Points in space, of residues that have several, and their places in the residues' frames. A row holds the x of all
// its points, then their y, then their z; a frame is a rotation, row by row, and a translation: [residues, 12].
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// R p + t of points [residues, 3 * points] given in the frames, and R^T (p - t), their places in the frames. Throw
// Error where the shapes do not fit.
HEADLIGHT_API Tensor ToGlobal(const Tensor& frames, const Tensor& points);
HEADLIGHT_API Tensor ToLocal(const Tensor& frames, const Tensor& points);

// sqrt(x^2 + y^2 + z^2 + epsilon) of each point: [residues, points].
HEADLIGHT_API Tensor PointNorms(const Tensor& points, double epsilon);

}  // namespace headlight::ops
