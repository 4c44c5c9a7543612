// Convolutions of feature maps on the tiles of matrix products. A block of the result gathers the inputs of its taps
// into a small left-hand side (kernels/unfolded.h). No unfolded copy of a map is stored, forward or backward. The bits
// of a cell do not depend on other cells, other maps, or the number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/compute.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/convolution_shape.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

/// x [rows of the maps, inputs] to y [rows of the results, outputs]. `weights` has a packed matrix per group, [taps *
/// inputs of a group, outputs of a group] with taps in row-major order, or one from PackedForWinograd
/// (kernels/winograd.h).
template <typename T>
void Convolve(const ConvolutionShape& shape, const MapRows<const T>& x, std::span<const PackedMatrix<T>> weights,
              const MapRows<T>& y, const AfterConvolution<T>& after = {});

/// The transposed convolution from y [rows of the results of `shape`, outputs] to x [rows of the maps, inputs]: the
/// gradient of a convolution's input. weight is [outputs, taps * inputs of a group]. If `accumulate`, the result is
/// added to x, and there must be no bias.
template <typename T>
void ConvolveTransposed(const ConvolutionShape& shape, const MapRows<const T>& y, Matrix<const T> weight,
                        Compute compute, const MapRows<T>& x, const T* bias, bool accumulate);

/// d_weight [outputs, taps * inputs of a group] += the gradient of a convolution's weight, summed over all cells in a
/// fixed order.
template <typename T>
void AddConvolutionWeightGradient(const ConvolutionShape& shape, const MapRows<const T>& x, const MapRows<const T>& d_y,
                                  Matrix<T> d_weight, Compute compute);

}  // namespace headlight::kernels
