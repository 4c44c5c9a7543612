// Layer normalization along rows (Ba, Kiros and Hinton, "Layer Normalization", 2016, eq. 3 and 4), with or without a
// fused residual connection. The fused version is post-norm: y = LayerNorm(x + dropout(sublayer)) (Vaswani et al.,
// 2017, section 5.4). T is float or double; gain and bias have one element per column. A row with NaN or infinity
// becomes NaN.
#pragma once

#include "headlight/base/matrix.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight::kernels {

/// Moments that are saved for the backward pass: mean[rows] and inverse_deviation[rows] = 1 / sqrt(variance + epsilon).
/// Both may be null if there is no backward pass.
template <typename T>
struct RowMoments {
  T* mean = nullptr;
  T* inverse_deviation = nullptr;
};

/// Computes y = (x - mean) / sqrt(variance + epsilon) * gain + bias, with the biased variance. y may be x.
template <typename T>
void LayerNormRows(Matrix<const T> x, const T* gain, const T* bias, double epsilon, Matrix<T> y, RowMoments<T> moments);

/// Writes d_x, which may be d_y, and adds to d_gain and d_bias.
template <typename T>
void LayerNormRowsGradient(Matrix<const T> x, const T* gain, RowMoments<T> moments, Matrix<const T> d_y, Matrix<T> d_x,
                           T* d_gain, T* d_bias);

/// Computes sum = x + dropout(sublayer) and y = LayerNormRows(sum). The backward pass needs the sum and the moments,
/// but neither x nor sublayer. sum may be x or sublayer. Without a backward pass, it may also be y.
template <typename T>
void ResidualLayerNormRows(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, const T* gain, const T* bias,
                           double epsilon, Matrix<T> sum, Matrix<T> y, RowMoments<T> moments);

/// Writes d_x and d_sublayer, and adds to d_gain and d_bias. One of d_x and d_sublayer may be d_y. Without dropout,
/// both are equal, and d_sublayer may be d_x.
template <typename T>
void ResidualLayerNormRowsGradient(Matrix<const T> sum, const T* gain, RowMoments<T> moments, Dropout dropout,
                                   Matrix<const T> d_y, Matrix<T> d_x, Matrix<T> d_sublayer, T* d_gain, T* d_bias);

}  // namespace headlight::kernels
