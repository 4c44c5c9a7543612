// The peak arithmetic of this processor: loops of one multiplying instruction on registers, without memory access.
#pragma once

#include <functional>

#include "headlight/base/compute.h"

namespace headlight::kernels {

struct Peak {
  const char* instructions = "";  ///< the instruction set, such as "avx2"
  double operations = 0;          ///< FLOP/s of all threads; of integers, two per product
};

/// The peak for products of a type, with the instructions that kernels use on this processor (kernels/cpu.h). Takes
/// about 0.1 s. Operations are 0 if no loop is known for the processor.
Peak MeasurePeak(Compute compute);

/// The shortest of several runs, in seconds, at least three and for about `seconds` together.
double FastestRun(double seconds, const std::function<void()>& run);

}  // namespace headlight::kernels
