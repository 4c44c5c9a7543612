// Layer normalization along rows (Ba, Kiros and Hinton, "Layer Normalization", 2016, eq. 3 and 4), by itself and fused
// with a residual connection (post-norm: y = LayerNorm(x + dropout(sublayer)), Vaswani et al., 2017, section 5.4). T is
// float or double; gain and bias have one element per column. A row with NaN or infinity becomes NaN.
#pragma once

#include "headlight/base/matrix.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight::kernels {

/// Saved for the backward pass: mean[rows] and inverse_deviation[rows] = 1 / sqrt(variance + epsilon). Both may be null
/// if there is none.
template <typename T>
struct RowMoments {
  T* mean = nullptr;
  T* inverse_deviation = nullptr;
};

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias, with the biased variance. y may be x.
template <typename T>
void LayerNormRows(Matrix<const T> x, const T* gain, const T* bias, double epsilon, Matrix<T> y, RowMoments<T> moments);

/// Writes d_x (it may be d_y), and adds to d_gain and d_bias.
template <typename T>
void LayerNormRowsGradient(Matrix<const T> x, const T* gain, RowMoments<T> moments, Matrix<const T> d_y, Matrix<T> d_x,
                           T* d_gain, T* d_bias);

/// sum = x + dropout(sublayer), y = LayerNormRows(sum). The gradient needs the sum and the moments, but neither x nor
/// sublayer. sum may be x, sublayer or, without a gradient, y.
template <typename T>
void ResidualLayerNormRows(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, const T* gain, const T* bias,
                           double epsilon, Matrix<T> sum, Matrix<T> y, RowMoments<T> moments);

/// Writes d_x and d_sublayer (one of them may be d_y), and adds to d_gain and d_bias. Without dropout both are equal,
/// and d_sublayer may be d_x.
template <typename T>
void ResidualLayerNormRowsGradient(Matrix<const T> sum, const T* gain, RowMoments<T> moments, Dropout dropout,
                                   Matrix<const T> d_y, Matrix<T> d_x, Matrix<T> d_sublayer, T* d_gain, T* d_bias);

}  // namespace headlight::kernels
