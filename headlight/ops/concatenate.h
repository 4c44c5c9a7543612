// Concatenation of tensors.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Concatenates a [rows of a, columns] and b [rows of b, columns] to [rows of a + rows of b, columns].
HEADLIGHT_API Tensor Concatenate(const Tensor& a, const Tensor& b);

/// Concatenates the rows of all parts [rows of part, columns]. Throws Error if there is no part, or if their columns
/// differ.
HEADLIGHT_API Tensor Concatenate(std::span<const Tensor> parts);

/// Concatenates a [rows, columns of a] and b [rows, columns of b] to [rows, columns of a + columns of b].
HEADLIGHT_API Tensor ConcatenateColumns(const Tensor& a, const Tensor& b);

}  // namespace headlight::ops
