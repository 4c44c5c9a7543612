// Convolutions of feature maps.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/convolution.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/ops/linear.h"

namespace headlight::ops {

using kernels::ConvolutionShape;

// The epilogue of a convolution: + bias, + residual, relu.
struct AfterConvolution {
  Tensor bias = {};      // [outputs], or empty
  Tensor residual = {};  // of the result's shape, or empty
  bool relu = false;
};

// x [cells, inputs] of each map to [cells of the results, outputs]. The weight is the matrix [outputs, taps * inputs /
// groups], the taps row by row and the inputs of each; it may hold only its packed form where there is one group.
// Throws Error where shapes do not fit, and for a map into which the kernel does not fit.
HEADLIGHT_API FeatureMaps Convolution(const FeatureMaps& x, const ConvolutionShape& shape, const Weight& weight,
                                      const AfterConvolution& after = {});

// The reverse: maps of the size of a convolution's results to ones of its inputs' size. x [cells, inputs] and the
// weight [inputs, taps * outputs / groups] to [cells of the results, outputs], with `more` rows and columns at the
// bottom and the right of each result (fewer than the stride or the dilation). Throws Error where shapes do not fit.
HEADLIGHT_API FeatureMaps TransposedConvolution(const FeatureMaps& x, const ConvolutionShape& shape,
                                                const Weight& weight, const Tensor& bias = {}, Grid more = {});

}  // namespace headlight::ops
