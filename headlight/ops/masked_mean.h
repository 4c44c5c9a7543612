// Column means of a grid with missing entries.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns the column means of x [rows * width, columns], a grid of vectors in row-major order, as [width, columns].
/// The sum over the rows in which the entry is present is divided by (number of these rows + epsilon). `present` has
/// rows * width bytes, 0 if missing. It is empty if all entries are present. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor MaskedMean(const Tensor& x, std::int64_t width, std::span<const std::uint8_t> present = {},
                                double epsilon = 0);

}  // namespace headlight::ops
