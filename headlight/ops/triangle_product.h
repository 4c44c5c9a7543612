// Triangle multiplication's products (Jumper et al., "Highly accurate protein structure prediction with AlphaFold",
// 2021, supplement, algorithms 11 and 12).
#pragma once

#include <cstdint>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

enum class Triangle { outgoing, incoming };

// For every channel: y_ij = sum over k of a_ik b_jk, of the edges that go out of i and j, or of a_ki b_kj, of those
// that come into them. `projected` [residues * residues, 4 * channels] holds a, its gates, b and its gates; a and b are
// multiplied by the sigmoid of their gates. y [residues * residues, channels]. The factors of the products are rounded
// to `compute`, float32 or bfloat16. Throws Error where the shape does not fit.
HEADLIGHT_API Tensor TriangleProduct(const Tensor& projected, std::int64_t residues, Triangle triangle,
                                     Compute compute = Compute::float32);

}  // namespace headlight::ops
