// The kernels that `headlight bench kernels` measures, in shapes of translation, generation and training.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"

namespace headlight {

enum class KernelLimit {
  arithmetic,  // the peak of the compute type's instructions
  reads,       // read bandwidth, of weights and logits beyond the caches
  copies,      // bandwidth of copies, of rows that are read and written
};

struct KernelCase {
  std::string kernel, shape;
  Compute compute = Compute::float32;
  KernelLimit limit = KernelLimit::arithmetic;
  double amount = 0;  // floating-point or integer operations of a run, or its bytes
  // Allocates the operands, and returns a run, which owns them.
  std::function<std::function<void()>()> prepare;
};

// All cases that this processor supports. If `quick`, the shapes are small.
std::vector<KernelCase> KernelCases(bool quick);

}  // namespace headlight
