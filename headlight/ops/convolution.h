// Convolutions of feature maps.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/convolution.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/ops/linear.h"

namespace headlight::ops {

using kernels::ConvolutionShape;

/// The operations after a convolution: the bias is added, the residual is added, then ReLU is applied.
struct AfterConvolution {
  Tensor bias = {};      ///< [outputs], or empty
  Tensor residual = {};  ///< has the shape of the result, or is empty
  bool relu = false;
};

/// Convolves x [cells, inputs] of each map to [output cells, outputs]. The weight is a matrix [outputs, taps * inputs /
/// groups]. Its columns are ordered by tap in row-major order, then by input. Without groups, the weight may hold only
/// its packed form. Throws Error if shapes do not fit or a map is smaller than the kernel.
HEADLIGHT_API FeatureMaps Convolution(const FeatureMaps& x, const ConvolutionShape& shape, const Weight& weight,
                                      const AfterConvolution& after = {});

/// Computes the transposed convolution of x [cells, inputs] with weight [inputs, taps * outputs / groups]. Returns
/// [output cells, outputs]. `more` adds rows at the bottom and columns at the right of each result, like PyTorch's
/// output_padding. It must be less than the stride or the dilation. Throws Error if shapes do not fit.
HEADLIGHT_API FeatureMaps TransposedConvolution(const FeatureMaps& x, const ConvolutionShape& shape,
                                                const Weight& weight, const Tensor& bias = {}, Grid more = {});

}  // namespace headlight::ops
