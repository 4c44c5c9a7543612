// The shape of a convolution and its epilogue.
#pragma once

#include <cstdint>

#include "headlight/base/grid.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// The shape of a convolution. Cell (y, x) of the result is a sum over the taps (i, j) of the kernel. Each tap's
/// weights are multiplied by the input cell at (y, x) * stride - padding + (i, j) * dilation. Cells outside the map are
/// 0. Inputs and outputs are divided into equal groups; the outputs of a group depend only on its inputs.
struct ConvolutionShape {
  Grid kernel = {1, 1}, stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  std::int64_t groups = 1;

  bool operator==(const ConvolutionShape&) const = default;
  std::int64_t taps() const { return kernel.cells(); }
  Grid ResultOf(Grid map) const;  ///< 0 x 0 if the map is smaller than the kernel
};

/// The operations after a convolution, in this order.
template <typename T>
struct AfterConvolution {
  const T* bias = nullptr;        ///< bias of the outputs, or null
  Matrix<const T> residual = {};  ///< added to the result; has as many rows as the result, or no data
  bool relu = false;
};

}  // namespace headlight::kernels
