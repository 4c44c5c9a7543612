// y = activation(x W^T + b).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
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

// Rows `ids` of the weight's values, [ids, inputs], dequantized where there is only a packed form. Throws Error for an
// id outside of it.
HEADLIGHT_API Tensor Rows(const Weight& weight, std::span<const std::int32_t> ids);

// x [..., inputs], bias of as many numbers as there are outputs or empty; y [..., outputs]. Throws Error where shapes
// do not fit.
HEADLIGHT_API Tensor Linear(const Tensor& x, const Weight& weight, const Tensor& bias = {},
                            Activation activation = Activation::none);

}  // namespace headlight::ops
