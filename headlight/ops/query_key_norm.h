// RMS normalization of queries and keys before attention scores (Dehghani et al., "Scaling Vision Transformers to 22
// Billion Parameters", 2023, section 2; with RMS norms, Yang et al., "Qwen3 Technical Report", 2025, section 2).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Normalizes runs of columns of x [tokens, columns], possibly columns of a wider tensor: run / sqrt(mean of run^2 +
/// epsilon) * gain. In the first `query_columns` columns, runs have query_gain.elements() columns. In the other
/// columns, they have key_gain.elements() columns. Returns the shape of x. Throws Error if the runs do not fill the
/// columns.
HEADLIGHT_API Tensor QueryKeyNorm(const Tensor& x, std::int64_t query_columns, const Tensor& query_gain,
                                  const Tensor& key_gain, double epsilon);

}  // namespace headlight::ops
