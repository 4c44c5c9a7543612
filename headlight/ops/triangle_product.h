// The products of triangle multiplication (Jumper et al., "Highly accurate protein structure prediction with
// AlphaFold", 2021, supplement, algorithms 11 and 12).
#pragma once

#include <cstdint>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

enum class Triangle { outgoing, incoming };

/// Returns y [residues * residues, channels]. For every channel, y_ij is the sum over k of a_ik b_jk (outgoing edges)
/// or of a_ki b_kj (incoming edges). `projected` [residues * residues, 4 * channels] has a, its gates, b and its gates.
/// a and b are multiplied by the sigmoid of their gates. The operands of the products are rounded to `compute`, float32
/// or bfloat16. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor TriangleProduct(const Tensor& projected, std::int64_t residues, Triangle triangle,
                                     Compute compute = Compute::float32);

}  // namespace headlight::ops
