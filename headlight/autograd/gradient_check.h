// Gradients of operations checked against finite differences, in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/tensor/tensor.h"

namespace headlight {

// Checks the full Jacobian of f at float64 `inputs` (every element of every input against every element of the output),
// the analytic one by one walk back per output element, against central differences with a step of 1e-5.
// Empty where they agree to `tolerance` relative to the largest entry; otherwise a sentence that names the input, the
// worst indices and both values. f must be a fixed function: the same random numbers at each call.
std::string CheckGradients(const std::function<Tensor(const std::vector<Tensor>& inputs)>& f,
                           const std::vector<Tensor>& inputs, double tolerance = 1e-6);

// A float64 tensor of fixed pseudo-random values in [-scale, scale].
Tensor RandomTensor(const Shape& shape, std::uint64_t seed, double scale = 1);

}  // namespace headlight
