// Means down the columns of a grid.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Of x [rows * width, columns], the rows of a grid one after another: for each place of a row, the sum over the rows
// where it is present, divided by (their number + epsilon); [width, columns]. `present` of rows * width, 0 where
// nothing is there, or empty: all is. Throws Error where the shapes do not fit.
HEADLIGHT_API Tensor MaskedMean(const Tensor& x, std::int64_t width, std::span<const std::uint8_t> present = {},
                                double epsilon = 0);

}  // namespace headlight::ops
