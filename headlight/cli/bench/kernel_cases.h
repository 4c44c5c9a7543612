// Defines the kernels that `headlight bench kernels` measures, with shapes of translation, generation and training.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"

namespace headlight {

enum class KernelLimit {
  arithmetic,  // peak arithmetic throughput of the compute type
  reads,       // read bandwidth, for weights and logits larger than the caches
  copies,      // copy bandwidth, for kernels that read and write rows
};

struct KernelCase {
  std::string kernel, shape;
  Compute compute = Compute::float32;
  KernelLimit limit = KernelLimit::arithmetic;
  double amount = 0;  // floating-point or integer operations of a run, or bytes that it moves
  // Allocates the operands and returns a run that owns them.
  std::function<std::function<void()>()> prepare;
};

// Returns all cases that this processor supports. If `quick`, the shapes are small.
std::vector<KernelCase> KernelCases(bool quick);

}  // namespace headlight
