// The projected mean over an alignment of the outer products of two residues' vectors (Jumper et al., "Highly accurate
// protein structure prediction with AlphaFold", 2021, supplement, algorithm 10). The mean is computed for a few
// residues at a time. The products of all pairs would be `channels` times as large as the result.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/compute.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/gemm.h"

namespace headlight::kernels {

template <typename T>
struct OuterProductInput {
  Matrix<const T> a, b;       ///< [rows * residues, channels], one row of the alignment after another
  std::int64_t residues = 0;  ///< residues per row
  /// [rows * residues]. Entries with 0 are absent, and both of their vectors count as 0. If empty, all entries are
  /// present.
  /// [rows * residues]. Entries with 0 are absent, and both of their vectors count as 0. If empty, all entries are
  /// present.
  std::span<const std::uint8_t> present = {};
  double epsilon = 1e-3;
  Compute compute = Compute::float32;  ///< compute type of the outer products: float32 or bfloat16
};

/// Computes y[i * residues + j] = (W vec(sum over rows s of a_si b_sj^T) + bias) / (rows in which i and j are present +
/// epsilon). The weight is W^T [channels * channels, outputs], bias is [outputs], and y is [residues * residues,
/// outputs].
template <typename T>
void OuterProductMean(const OuterProductInput<T>& input, const PackedMatrix<T>& weight, const T* bias, Matrix<T> y);

/// Overwrites the gradients of a and b, and adds to the gradients of W [outputs, channels * channels] and bias.
/// Gradients without data are not computed.
template <typename T>
void OuterProductMeanGradient(const OuterProductInput<T>& input, Matrix<const T> weight, Matrix<const T> d_y,
                              Matrix<T> d_a, Matrix<T> d_b, Matrix<T> d_weight, T* d_bias);

}  // namespace headlight::kernels
