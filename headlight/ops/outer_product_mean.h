// The mean over an alignment of the outer products of two residues' vectors (Jumper et al., "Highly accurate protein
// structure prediction with AlphaFold", 2021, supplement, algorithm 10).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/ops/linear.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Of residues i and j: (W vec(sum over the rows s of a_si b_sj^T) + bias) / (n_ij + epsilon), n_ij the number of rows
// in which both are present. a and b [rows * residues, channels], the rows of an alignment one after another; `present`
// of rows * residues, 0 where a row has nothing, or empty: all are present; weight [outputs, channels * channels], bias
// [outputs]; [residues * residues, outputs]. Throws Error where the shapes do not fit.
HEADLIGHT_API Tensor OuterProductMean(const Tensor& a, const Tensor& b, std::int64_t residues,
                                      std::span<const std::uint8_t> present, const Weight& weight, const Tensor& bias,
                                      double epsilon = 1e-3);

}  // namespace headlight::ops
