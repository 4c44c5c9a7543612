// Views with gradient. The gradient of a view is the same view of the base tensor's gradient.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns columns [begin, begin + count) of x, such as the keys in a fused query-key-value projection.
HEADLIGHT_API Tensor Columns(const Tensor& x, std::int64_t begin, std::int64_t count);

/// Returns the same elements in the same order with another shape. x must be contiguous.
HEADLIGHT_API Tensor Reshape(const Tensor& x, const Shape& shape);

}  // namespace headlight::ops
