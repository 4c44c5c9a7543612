// Elementwise activations. T is float or double; y may be x. NaN results in NaN. At -infinity, gelu and silu return
// NaN, because they multiply infinity by 0.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight {

enum class Activation {
  none,        ///< x
  relu,        ///< max(0, x)
  gelu,        ///< x * Phi(x), with Phi the normal CDF (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016)
  gelu_tanh,   ///< the paper's approximation 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  silu,        ///< x / (1 + e^-x), also called swish
  quick_gelu,  ///< the paper's approximation x / (1 + e^(-1.702 x))
  tanh,
};

namespace kernels {

template <typename T>
void ActivationRows(Activation activation, Matrix<const T> x, Matrix<T> y);

/// Computes x = activation(x) in place, on the calling thread only.
template <typename T>
void Activate(Activation activation, Matrix<T> x);

/// Computes d_x = d_y * activation'(x). For relu, x may be the activation's output. d_x may be d_y.
template <typename T>
void ActivationRowsGradient(Activation activation, Matrix<const T> x, Matrix<const T> d_y, Matrix<T> d_x);

/// Computes y = activation(gate) * x (Shazeer, "GLU Variants Improve Transformer", 2020). y may be x or gate.
template <typename T>
void GatedRows(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<T> y);

/// Computes d_gate = d_y * x * activation'(gate) and d_x = d_y * activation(gate).
template <typename T>
void GatedRowsGradient(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<const T> d_y,
                       Matrix<T> d_gate, Matrix<T> d_x);

}  // namespace kernels
}  // namespace headlight
