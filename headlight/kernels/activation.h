// Activations, element by element. T is float or double, y may be x. NaN gives NaN; at -infinity gelu and silu, whose
// limit is 0 times infinity, give NaN too.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight {

enum class Activation {
  none,        // x
  relu,        // max(0, x)
  gelu,        // x * Phi(x), Phi the normal distribution (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016)
  gelu_tanh,   // its approximation there, 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  silu,        // x / (1 + e^-x), also called swish
  quick_gelu,  // another approximation of gelu there, x / (1 + e^(-1.702 x))
  tanh,
};

namespace kernels {

template <typename T>
void ActivationRows(Activation activation, Matrix<const T> x, Matrix<T> y);

// x = activation(x), on the calling thread alone.
template <typename T>
void Activate(Activation activation, Matrix<T> x);

// d_x = d_y * slope at x. relu may be given its result for x. d_x may be d_y.
template <typename T>
void ActivationRowsGradient(Activation activation, Matrix<const T> x, Matrix<const T> d_y, Matrix<T> d_x);

/// y = activation(gate) * x (Shazeer, "GLU Variants Improve Transformer", 2020). y may be an operand.
template <typename T>
void GatedRows(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<T> y);

/// d_gate = d_y * x * slope at gate and d_x = d_y * activation(gate).
template <typename T>
void GatedRowsGradient(Activation activation, Matrix<const T> gate, Matrix<const T> x, Matrix<const T> d_y,
                       Matrix<T> d_gate, Matrix<T> d_x);

}  // namespace kernels
}  // namespace headlight
