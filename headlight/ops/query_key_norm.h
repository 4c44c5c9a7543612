// RMS norms of queries and keys before their scores (Dehghani et al., "Scaling Vision Transformers to 22 Billion
// Parameters", 2023, section 2; with RMS norms, Yang et al., "Qwen3 Technical Report", 2025, section 2).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// x [tokens, columns], possibly columns of a wider tensor, to the same: each run of query_gain.elements() columns in
/// the first `query_columns`, and each run of key_gain.elements() in the others, is normed on its own,
/// run / sqrt(mean of run^2 + epsilon) * gain. Throws Error if the runs do not fill the columns.
HEADLIGHT_API Tensor QueryKeyNorm(const Tensor& x, std::int64_t query_columns, const Tensor& query_gain,
                                  const Tensor& key_gain, double epsilon);

}  // namespace headlight::ops
