// Convolutions of feature maps as tiled matrix products. For each block of the result, the inputs of its taps are
// gathered into a small left-hand side (kernels/unfolded.h). No unfolded copy of a map is stored, forward or backward.
// The bits of a cell do not depend on other cells, other maps, or the number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/compute.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/convolution_shape.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

/// Convolves x [rows of the maps, inputs] to y [rows of the results, outputs]. `weights` has a packed matrix per group,
/// [taps * inputs of a group, outputs of a group] with taps in row-major order, or one matrix from PackedForWinograd
/// (kernels/winograd.h).
template <typename T>
void Convolve(const ConvolutionShape& shape, const MapRows<const T>& x, std::span<const PackedMatrix<T>> weights,
              const MapRows<T>& y, const AfterConvolution<T>& after = {});

/// Computes the transposed convolution from y [rows of the results of `shape`, outputs] to x [rows of the maps,
/// inputs]. This is the gradient of a convolution with respect to its input. weight is [outputs, taps * inputs of a
/// group]. If `accumulate` is true, the result is added to x, and there must be no bias.
template <typename T>
void ConvolveTransposed(const ConvolutionShape& shape, const MapRows<const T>& y, Matrix<const T> weight,
                        Compute compute, const MapRows<T>& x, const T* bias, bool accumulate);

/// Adds the gradient of a convolution's weight to d_weight [outputs, taps * inputs of a group]. The gradient is summed
/// over all cells in a fixed order.
template <typename T>
void AddConvolutionWeightGradient(const ConvolutionShape& shape, const MapRows<const T>& x, const MapRows<const T>& d_y,
                                  Matrix<T> d_weight, Compute compute);

}  // namespace headlight::kernels
