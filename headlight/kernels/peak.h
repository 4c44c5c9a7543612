// Measures the peak arithmetic throughput of this processor, with loops of one multiplying instruction on registers,
// without memory access.
#pragma once

#include <functional>

#include "headlight/base/compute.h"

namespace headlight::kernels {

struct Peak {
  const char* instructions = "";  ///< the instruction set, such as "avx2"
  double operations = 0;          ///< FLOP/s of all threads; integer products count as two operations
};

/// Measures the peak for products of a type, with the instructions that kernels use on this processor (kernels/cpu.h).
/// Takes about 0.1 s. Operations are 0 if no loop exists for the processor.
Peak MeasurePeak(Compute compute);

/// Returns the time of the fastest of several runs, in seconds. Makes at least three runs, for about `seconds` in
/// total.
double FastestRun(double seconds, const std::function<void()>& run);

}  // namespace headlight::kernels
