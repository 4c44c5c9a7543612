// Products with a Weight, packed ahead of time or, in double and where nobody has packed it, on the spot.
#pragma once

#include <type_traits>

#include "headlight/ops/linear.h"

namespace headlight::ops {

// y = x value^T + bias, its negative elements 0 where `relu`: x [rows, inputs], y [rows, outputs], bias [outputs] or
// null.
template <typename T>
void MultiplyByTransposed(Matrix<const T> x, const Weight& weight, Matrix<T> y, const T* bias = nullptr,
                          bool relu = false) {
  if constexpr (std::is_same_v<T, float>)
    if (weight.packed != nullptr) return kernels::Gemm<T>(x, *weight.packed, y, bias, relu);
  kernels::PackedMatrix<T> packed(weight.value.columns(), weight.value.rows());
  packed.Pack(weight.value.matrix<T>(), /*transposed=*/true);
  kernels::Gemm<T>(x, packed, y, bias, relu);
}

// x = y value, or x += y value: y [rows, outputs], x [rows, inputs].
template <typename T>
void MultiplyBy(Matrix<const T> y, const Weight& weight, Matrix<T> x, bool accumulate) {
  if constexpr (std::is_same_v<T, float>)
    if (weight.packed_back != nullptr)
      return kernels::Gemm<T>(y, *weight.packed_back, x, nullptr, /*relu=*/false, accumulate);
  kernels::PackedMatrix<T> packed(weight.value.rows(), weight.value.columns());
  packed.Pack(weight.value.matrix<T>(), /*transposed=*/false);
  kernels::Gemm<T>(y, packed, x, nullptr, /*relu=*/false, accumulate);
}

}  // namespace headlight::ops
