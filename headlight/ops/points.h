// Points of residues, and their coordinates in the residues' frames. A row has the x of all its points, then all y,
// then all z. A frame is a row-major rotation followed by a translation: [residues, 12].
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Convert points [residues, 3 * points] between coordinates. ToGlobal returns R p + t, and ToLocal returns R^T (p -
/// t), its inverse. Throw Error if shapes do not fit.
HEADLIGHT_API Tensor ToGlobal(const Tensor& frames, const Tensor& points);
HEADLIGHT_API Tensor ToLocal(const Tensor& frames, const Tensor& points);

/// Returns sqrt(x^2 + y^2 + z^2 + epsilon) of each point: [residues, points].
HEADLIGHT_API Tensor PointNorms(const Tensor& points, double epsilon);

}  // namespace headlight::ops
