// The weight of a linear layer, and its packed forms.
#pragma once

#include <type_traits>

#include "headlight/base/compute.h"
#include "headlight/kernels/gemm.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// A weight matrix: its values, as stored in checkpoints, and optionally a packed form for products. Without a packed
/// form, each product packs the values, which is cheap for many rows. Weights for inference may have only the packed
/// form.
struct Weight {
  Tensor value;                                          ///< [outputs, inputs]
  const kernels::PackedMatrix<float>* packed = nullptr;  ///< packed value^T, for y = x value^T
  Compute compute = Compute::float32;                    ///< compute type of all products with this weight

  Shape shape() const { return value.empty() ? Shape{packed->columns(), packed->rows()} : value.shape(); }
};

/// Returns value^T for y = x value^T. This is the weight's packed form if it exists. Otherwise, the value is packed
/// into `made`, which is returned.
template <typename T>
const kernels::PackedMatrix<T>& PackedTransposed(const Weight& weight, kernels::PackedMatrix<T>& made) {
  if constexpr (std::is_same_v<T, float>)
    if (weight.packed != nullptr) return *weight.packed;
  made = kernels::PackedMatrix<T>(weight.value.columns(), weight.value.rows(), weight.compute);
  made.Pack(weight.value.matrix<T>(), /*transposed=*/true);
  return made;
}

/// Returns the packed value for dx = dy value.
template <typename T>
kernels::PackedMatrix<T> Packed(const Weight& weight) {
  kernels::PackedMatrix<T> packed(weight.value.rows(), weight.value.columns(), weight.compute);
  packed.Pack(weight.value.matrix<T>(), /*transposed=*/false);
  return packed;
}

}  // namespace headlight::ops
