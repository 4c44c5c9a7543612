// 3 x 3 convolutions with a quarter of the multiplications (Winograd, "Arithmetic Complexity of Computations", 1980;
// Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). A tile of 4 x 4 results is A^T ((G g G^T)
// * (B^T d B)) A, with g the taps, d the 6 x 6 input cells, and * the elementwise product. Each of the 36 products is a
// matrix product over the inputs. A plain convolution has 16 x 9 products instead.
//
// A, B and G use the points 0, 1, -1, 1/2 and -2. For 256 inputs, the error relative to the largest number is 3e-6.
// Plain sums have an error of 1e-6, and the usual points 0, 1, -1, 2 and -2 give an error of 1e-5. Tiles of 2 x 2 have
// an error of 0.4e-6, but take 1.2 to 1.3 times as long with 256 x 256 channels.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/kernels/convolution_shape.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

/// The side lengths of a tile of input cells, and of a tile of results.
inline constexpr std::int64_t kTileRead = 6, kTileWritten = 4;
inline constexpr std::int64_t kWinogradProducts = kTileRead * kTileRead;

/// Returns true if the convolution is faster with Winograd on maps of typical sizes. For one image and more than 256 x
/// 256 channels, reading four times as many weights takes longer than the saved products. The result depends only on
/// the weight, so that a map has the same bits in any batch.
bool SuitsWinograd(const ConvolutionShape& shape, std::int64_t inputs, std::int64_t outputs);

/// Computes G g G^T of weight [outputs, 9 * inputs]. Output j is multiplied by factors[j], unless `factors` is null.
/// Returns a packed matrix [36 * inputs, outputs], which Convolve recognizes by its shape.
PackedMatrix<float> PackedForWinograd(Matrix<const float> weight, const float* factors = nullptr);

/// Computes the result of Convolve for one group, with weights from PackedForWinograd.
void ConvolveByWinograd(const ConvolutionShape& shape, const MapRows<const float>& x,
                        const PackedMatrix<float>& weights, const MapRows<float>& y,
                        const AfterConvolution<float>& after);

}  // namespace headlight::kernels
