// Column means of a grid with missing entries.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// x [rows * width, columns] is a grid of vectors in row-major order. Returns [width, columns]: the sum over the rows
/// in which the entry is present, divided by (their number + epsilon). `present` has rows * width bytes, 0 if missing,
/// or is empty if all are present. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor MaskedMean(const Tensor& x, std::int64_t width, std::span<const std::uint8_t> present = {},
                                double epsilon = 0);

}  // namespace headlight::ops
