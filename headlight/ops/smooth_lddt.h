// The smooth lDDT loss (Abramson et al., "Accurate structure prediction of biomolecular interactions with AlphaFold 3",
// 2024, supplement, algorithm 27).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times (1 - the mean score of all pairs of known points less than 15 angstrom apart in `truth`), of
/// shape [1]. The score of a pair is the mean of sigmoid(t - error) for t = 0.5, 1, 2 and 4 angstrom, a smooth version
/// of lDDT's thresholds. The gradient vanishes far from the truth, so the loss prefers one of several likely structures
/// to their mean. `predicted` and `truth` are [points, 3]. `known` has one byte per point, 0 if it is ignored. The loss
/// is 0 if there are no such pairs. Only the prediction has a gradient. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor SmoothLddtLoss(const Tensor& predicted, const Tensor& truth, std::span<const std::uint8_t> known,
                                    double scale);

}  // namespace headlight::ops
