// Convolutions of feature maps.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/convolution.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/ops/linear.h"

namespace headlight::ops {

using kernels::ConvolutionShape;

/// The epilogue of a convolution: + bias, + residual, ReLU.
struct AfterConvolution {
  Tensor bias = {};      ///< [outputs], or empty
  Tensor residual = {};  ///< the shape of the result, or empty
  bool relu = false;
};

/// x [cells, inputs] of each map to [output cells, outputs]. The weight is a matrix [outputs, taps * inputs / groups]:
/// taps in row-major order, and the inputs of each tap. Without groups it may hold only its packed form. Throws Error
/// if shapes do not fit or a map is smaller than the kernel.
HEADLIGHT_API FeatureMaps Convolution(const FeatureMaps& x, const ConvolutionShape& shape, const Weight& weight,
                                      const AfterConvolution& after = {});

/// The transposed convolution. x [cells, inputs] and weight [inputs, taps * outputs / groups] give [output cells,
/// outputs]. `more` adds rows at the bottom and columns at the right of each result, like PyTorch's output_padding; it
/// must be less than the stride or the dilation. Throws Error if shapes do not fit.
HEADLIGHT_API FeatureMaps TransposedConvolution(const FeatureMaps& x, const ConvolutionShape& shape,
                                                const Weight& weight, const Tensor& bias = {}, Grid more = {});

}  // namespace headlight::ops
