// Points of residues, and their coordinates in the residues' frames. A row holds the x of all its points, then y, then
// z. A frame is a row-major rotation followed by a translation: [residues, 12].
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// R p + t, from local to global coordinates, and R^T (p - t), the reverse, of points [residues, 3 * points]. Throw
/// Error if shapes do not fit.
HEADLIGHT_API Tensor ToGlobal(const Tensor& frames, const Tensor& points);
HEADLIGHT_API Tensor ToLocal(const Tensor& frames, const Tensor& points);

/// sqrt(x^2 + y^2 + z^2 + epsilon) of each point: [residues, points].
HEADLIGHT_API Tensor PointNorms(const Tensor& points, double epsilon);

}  // namespace headlight::ops
