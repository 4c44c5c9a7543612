// Weighted sums of a table's rows, as interpolation and mixtures of experts take them.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Row i of the result is the sum of weights[i * terms + t] * table[rows[i * terms + t]] for t below `terms`: table
// [table rows, columns], rows and weights [results * terms]; [results, columns]. Throws Error for a row outside of the
// table.
HEADLIGHT_API Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows,
                                  std::span<const double> weights, std::int64_t terms);

/// The same with weights [results, terms] that have a gradient, as a mixture of experts has them. The terms of a result
/// are added in their order, whatever the other results are.
HEADLIGHT_API Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows, const Tensor& weights);

}  // namespace headlight::ops
