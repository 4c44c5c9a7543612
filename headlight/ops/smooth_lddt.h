// The smooth lDDT loss (Abramson et al., "Accurate structure prediction of biomolecular interactions with AlphaFold 3",
// 2024, supplement, algorithm 27).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times one less the mean, over all pairs of known points less than 15 angstrom apart in truth, of how right
// their distance is: the mean of sigmoid(t - error) for errors of t = 0.5, 1, 2 and 4 angstrom, lDDT's steps made
// smooth. Far from the truth the slope vanishes: of several likely structures it prefers one to their mean. `predicted`
// and `truth` are [points, 3]; `known` has a mark for each point, 0 where it does not count. 0 without any such pair.
// Gradients are those of the prediction. Throws Error where the shapes do not fit.
HEADLIGHT_API Tensor SmoothLddtLoss(const Tensor& predicted, const Tensor& truth, std::span<const std::uint8_t> known,
                                    double scale);

}  // namespace headlight::ops
