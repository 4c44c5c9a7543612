// Generalized intersection over union (Rezatofighi et al., "Generalized Intersection over Union: A Metric and A Loss
// for Bounding Box Regression", 2019).
#pragma once

#include <array>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

using CenteredBox = std::array<double, 4>;  ///< center x, y, width, height

/// Returns the intersection over union, minus the fraction of the smallest enclosing box that neither box covers. The
/// result is in [-1, 1]. At least one of the boxes must have a positive area.
HEADLIGHT_API double GeneralizedIou(const CenteredBox& a, const CenteredBox& b);

/// Returns scale times the sum of 1 - GeneralizedIou(boxes[r], targets[r]) over the rows of boxes, of shape [1]. boxes
/// is [rows, 4]: center x, center y, width, height. Throws Error if shapes do not fit or a target has no area.
HEADLIGHT_API Tensor GeneralizedIouLoss(const Tensor& boxes, std::span<const CenteredBox> targets, double scale);

}  // namespace headlight::ops
