// Convolutions of feature maps, on the tiles of matrix products. A block of the result takes the numbers that its taps
// read into a small left-hand side (kernels/unfolded.h); no unfolded copy of a map is stored, forward or backward. The
// bits of a place do not depend on the other places and maps, nor on the number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/compute.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/convolution_shape.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

// x [rows of the maps, inputs] to y [rows of the results, outputs]. A packed matrix for each group: [taps * inputs of a
// group, outputs of a group], the taps row by row; or as PackedForWinograd makes it (kernels/winograd.h).
template <typename T>
void Convolve(const ConvolutionShape& shape, const MapRows<const T>& x, std::span<const PackedMatrix<T>> weights,
              const MapRows<T>& y, const AfterConvolution<T>& after = {});

// The transposed convolution y [rows of the results of `shape`, outputs] to x [rows of the maps, inputs], which is the
// gradient of a convolution's x where y is that of its result. weight [outputs, taps * inputs of a group]. Added to x
// where `accumulate`; then without bias.
template <typename T>
void ConvolveTransposed(const ConvolutionShape& shape, const MapRows<const T>& y, Matrix<const T> weight,
                        Compute compute, const MapRows<T>& x, const T* bias, bool accumulate);

// d_weight [outputs, taps * inputs of a group] += the gradient of a convolution's weight, summed over all places in a
// fixed order.
template <typename T>
void AddConvolutionWeightGradient(const ConvolutionShape& shape, const MapRows<const T>& x, const MapRows<const T>& d_y,
                                  Matrix<T> d_weight, Compute compute);

}  // namespace headlight::kernels
