// The weight of a product, and its packed forms.
#pragma once

#include <type_traits>

#include "headlight/base/compute.h"
#include "headlight/kernels/gemm.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// A matrix that rows are multiplied by: its values, as checkpoints store them, and optionally the packed form that
// products run on. Without it a product packs the values itself, which is cheap beside many rows. Inference-only
// weights may hold only the packed form.
struct Weight {
  Tensor value;                                          // [outputs, inputs]
  const kernels::PackedMatrix<float>* packed = nullptr;  // value^T, for y = x value^T
  Compute compute = Compute::float32;                    // of all products with it

  Shape shape() const { return value.empty() ? Shape{packed->columns(), packed->rows()} : value.shape(); }
};

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
