// Defines the kernels that `headlight bench kernels` measures, with shapes of translation, generation and training.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"

namespace headlight {

enum class KernelLimit {
  arithmetic,  // peak arithmetic throughput of the compute type
  bandwidth,   // memory bandwidth of KernelRuns::bare
};

struct KernelRuns {
  std::function<void()> run;
  // Reads and writes as many bytes as `run`, with hardly any arithmetic. Set only if the limit is `bandwidth`.
  std::function<void()> bare = {};
};

struct KernelCase {
  std::string kernel, shape;
  Compute compute = Compute::float32;
  KernelLimit limit = KernelLimit::arithmetic;
  double amount = 0;  // floating-point or integer operations of a run, or bytes that it moves
  // Allocates the operands, which the runs own.
  std::function<KernelRuns()> prepare;
};

// Returns all cases that this processor supports. If `quick` is true, the shapes are small.
std::vector<KernelCase> KernelCases(bool quick);

}  // namespace headlight
