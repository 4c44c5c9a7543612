// The mean over an alignment of the outer products of two residues' vectors (Jumper et al., "Highly accurate protein
// structure prediction with AlphaFold", 2021, supplement, algorithm 10).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/ops/linear.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns (W vec(sum over rows s of a_si b_sj^T) + bias) / (n_ij + epsilon) for residues i and j, with n_ij the number
/// of rows in which both are present. a and b are [rows * residues, channels], row by row. `present` has rows *
/// residues bytes, 0 if missing. It is empty if all are present. weight is [outputs, channels * channels], and bias is
/// [outputs]. Returns [residues * residues, outputs]. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor OuterProductMean(const Tensor& a, const Tensor& b, std::int64_t residues,
                                      std::span<const std::uint8_t> present, const Weight& weight, const Tensor& bias,
                                      double epsilon = 1e-3);

}  // namespace headlight::ops
