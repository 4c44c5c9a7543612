// Weighted sums of table rows, as used by interpolation and mixtures of experts.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Row i of the result is the sum of weights[i * terms + t] * table[rows[i * terms + t]] over t < terms. table is
/// [table rows, columns]; rows and weights have results * terms elements. Returns [results, columns]. Throws Error if a
/// row is out of range.
HEADLIGHT_API Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows,
                                  std::span<const double> weights, std::int64_t terms);

/// The same with weights [results, terms] that have a gradient, as a mixture of experts has them. The terms of a result
/// are added in their order, whatever the other results are.
HEADLIGHT_API Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows, const Tensor& weights);

}  // namespace headlight::ops
