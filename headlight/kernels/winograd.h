// Convolutions of 3 x 3 taps with a quarter of the multiplications (Winograd, "Arithmetic Complexity of Computations",
// 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). A tile of 4 x 4 results is
// A^T ((G g G^T) * (B^T d B)) A, where g are the taps, d the 6 x 6 cells that they read and * multiplies element by
// element: 36 products, summed over the inputs by a matrix product each, in place of 16 x 9.
//
// A, B and G are those of the points 0, 1, -1, 1/2 and -2: of 256 inputs the result is wrong by 3e-6 of its largest
// number, where sums of all taps are by 1e-6, and the usual points, 0, 1, -1, 2 and -2, by 1e-5. (Tiles of 2 x 2 are
// wrong by 0.4e-6, but took 1.2 to 1.3 times as long with 256 x 256 channels.)
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/kernels/convolution_shape.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

// Sides of a tile, of the cells that it reads and of the results.
inline constexpr std::int64_t kTileRead = 6, kTileWritten = 4;
inline constexpr std::int64_t kWinogradProducts = kTileRead * kTileRead;

// True where these convolutions are faster so, on maps of the usual sizes: beyond 256 x 256 channels, for one image,
// reading four times the weights takes longer than the products that are saved. By the weight alone, so that a map
// gives the same bits in any batch.
bool SuitsWinograd(const ConvolutionShape& shape, std::int64_t inputs, std::int64_t outputs);

// G g G^T of weight [outputs, 9 * inputs], of output j times factors[j] unless that is null, as the packed matrix
// [36 * inputs, outputs] by which Convolve knows it.
PackedMatrix<float> PackedForWinograd(Matrix<const float> weight, const float* factors = nullptr);

// As Convolve, of one group, with weights in that form.
void ConvolveByWinograd(const ConvolutionShape& shape, const MapRows<const float>& x,
                        const PackedMatrix<float>& weights, const MapRows<float>& y,
                        const AfterConvolution<float>& after);

}  // namespace headlight::kernels
