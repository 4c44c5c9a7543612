// Measures the bandwidth of memory or a cache with loops that access memory like kernels, but do hardly any arithmetic.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"

namespace headlight::kernels {

/// Reads `count` elements of each of one, two or four inputs. Writes the sums over the inputs to y [count], unless it
/// is null. `count` is a multiple of 64. Runs on all threads, in chunks as in kernels/rows.h.
HEADLIGHT_API void StreamSums(std::span<const float* const> inputs, std::int64_t count, float* y);

}  // namespace headlight::kernels
