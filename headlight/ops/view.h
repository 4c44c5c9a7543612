// Views whose gradient is the same view of the whole's gradient.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Columns [begin, begin + count) of x's rows, such as the keys within a fused query-key-value projection.
HEADLIGHT_API Tensor Columns(const Tensor& x, std::int64_t begin, std::int64_t count);

// The same elements in the same order under another shape; x contiguous.
HEADLIGHT_API Tensor Reshape(const Tensor& x, const Shape& shape);

}  // namespace headlight::ops
