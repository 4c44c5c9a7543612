// L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989), for smooth
// functions of few variables that are computed exactly, without mini-batches.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// Returns the value at x and sets `gradient`, which has the same size as x.
using Objective = std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

struct LbfgsOptions {
  std::size_t history = 10;  // number of difference pairs that approximate the Hessian
  double tolerance = 1e-6;   // stops when no component of the gradient exceeds this value
  std::int64_t iterations = 1000;
};

/// Moves x to a minimum. Returns false if the gradient still exceeds the tolerance after the last iteration, or if no
/// step along the gradient decreases the value. Deterministic.
HEADLIGHT_API bool Minimize(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options = {});

}  // namespace headlight
