// L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989), for smooth
// functions of few numbers that are computed exactly, without mini-batches.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// The value at x; fills the gradient, which has as many numbers.
using Objective = std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

struct LbfgsOptions {
  std::size_t history = 10;  // pairs of steps and changes of the gradient that stand for the second derivatives
  double tolerance = 1e-6;   // of the largest part of the gradient, at which it ends
  std::int64_t iterations = 1000;
};

// Moves x to a minimum. False where the gradient is still larger than the tolerance: the iterations are over, or no
// step along the gradient makes the value smaller. The same numbers in, the same bits out.
HEADLIGHT_API bool Minimise(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options = {});

}  // namespace headlight
