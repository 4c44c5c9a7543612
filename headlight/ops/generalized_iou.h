// Generalized intersection over union (Rezatofighi et al., "Generalized Intersection over Union: A Metric and A Loss
// for Bounding Box Regression", 2019).
#pragma once

#include <array>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

using CentredBox = std::array<double, 4>;  // centre x, y, width, height

// Intersection over union, less the share of the smallest box around both that neither covers: -1 to 1. One of the two
// has an area.
HEADLIGHT_API double GeneralizedIou(const CentredBox& a, const CentredBox& b);

// [1]: scale times the sum of 1 - GeneralizedIou(boxes[r], targets[r]) of the rows of boxes [rows, 4], centre x, y,
// width, height. Throws Error for another shape, another number of targets, and a target without an area.
HEADLIGHT_API Tensor GeneralizedIouLoss(const Tensor& boxes, std::span<const CentredBox> targets, double scale);

}  // namespace headlight::ops
