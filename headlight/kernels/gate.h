// Gates: y = x * sigmoid(gate), elementwise, with sigmoid(g) = 1 / (1 + e^-g). T is float or double; y may be x or
// gate.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

template <typename T>
void GateRows(Matrix<const T> x, Matrix<const T> gate, Matrix<T> y);

/// Computes d_x = d_y * sigmoid(gate) and d_gate = d_y * x * sigmoid(gate) * (1 - sigmoid(gate)). d_x or d_gate may be
/// d_y.
template <typename T>
void GateRowsGradient(Matrix<const T> x, Matrix<const T> gate, Matrix<const T> d_y, Matrix<T> d_x, Matrix<T> d_gate);

/// Computes y = (x * sigmoid(gate))^T in one pass. GateTransposedGradient computes the gradients of x and gate from
/// d_y.
template <typename T>
void GateTransposed(Matrix<const T> x, Matrix<const T> gate, Matrix<T> y);
template <typename T>
void GateTransposedGradient(Matrix<const T> x, Matrix<const T> gate, Matrix<const T> d_y, Matrix<T> d_x,
                            Matrix<T> d_gate);

}  // namespace headlight::kernels
