// Checks gradients of operations against finite differences in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/tensor/tensor.h"

namespace headlight {

/// Checks the full Jacobian of f at float64 `inputs`. The analytic Jacobian, from one backward pass per output element,
/// is compared with central differences with a step of 1e-5. Returns "" if they agree to `tolerance` relative to the
/// largest entry. Otherwise, returns a message with the input, the indices of the largest difference and both values. f
/// must be deterministic.
std::string CheckGradients(const std::function<Tensor(const std::vector<Tensor>& inputs)>& f,
                           const std::vector<Tensor>& inputs, double tolerance = 1e-6);

/// Returns a float64 tensor of reproducible random values in [-scale, scale].
Tensor RandomTensor(const Shape& shape, std::uint64_t seed, double scale = 1);

}  // namespace headlight
