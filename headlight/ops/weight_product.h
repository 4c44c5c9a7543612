// The packed forms of a Weight for products with it.
#pragma once

#include <type_traits>

#include "headlight/ops/linear.h"

namespace headlight::ops {

// value^T, for y = x value^T: the weight's own, or `made` now.
template <typename T>
const kernels::PackedMatrix<T>& PackedTransposed(const Weight& weight, kernels::PackedMatrix<T>& made) {
  if constexpr (std::is_same_v<T, float>)
    if (weight.packed != nullptr) return *weight.packed;
  made = kernels::PackedMatrix<T>(weight.value.columns(), weight.value.rows(), weight.compute);
  made.Pack(weight.value.matrix<T>(), /*transposed=*/true);
  return made;
}

// value, for dx = dy value.
template <typename T>
kernels::PackedMatrix<T> Packed(const Weight& weight) {
  kernels::PackedMatrix<T> packed(weight.value.rows(), weight.value.columns(), weight.compute);
  packed.Pack(weight.value.matrix<T>(), /*transposed=*/false);
  return packed;
}

}  // namespace headlight::ops
