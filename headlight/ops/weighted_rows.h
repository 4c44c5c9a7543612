// Weighted sums of table rows, as used by interpolation and mixtures of experts.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns weighted sums of table rows, [results, columns]. Row i is the sum over t < terms of weights[i * terms + t] *
/// table[rows[i * terms + t]]. table is [table rows, columns]. rows and weights have results * terms elements. Throws
/// Error if a row is out of range.
HEADLIGHT_API Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows,
                                  std::span<const double> weights, std::int64_t terms);

/// Computes the same sums with weights [results, terms] that have a gradient, as in a mixture of experts. The terms of
/// a result are added in their order, independently of other results.
HEADLIGHT_API Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows, const Tensor& weights);

}  // namespace headlight::ops
