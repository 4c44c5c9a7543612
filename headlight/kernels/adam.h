// One step of Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, algorithm 1) or AdamW
// (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2) for a flat array of parameters. T
// is float or double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headlight::kernels {

/// The settings of one optimizer step.
struct AdamStep {
  std::int64_t step = 1;  ///< the number of the step, t in the papers, starting at 1
  double learning_rate = 0;
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  double weight_decay = 0;    ///< AdamW: value -= learning_rate * weight_decay * value
  double gradient_scale = 1;  ///< factor of the gradient, applied first, for clipping or accumulation
  double average_decay = 0;   ///< average = average_decay * average + (1 - average_decay) * value
};

/// Updates the parameters `value` and the moments m and v. Also updates the moving average of the parameters, unless
/// `average` is empty. All spans have the same length.
template <typename T>
void AdamUpdate(const AdamStep& step, std::span<T> value, std::span<const T> gradient, std::span<T> m, std::span<T> v,
                std::span<T> average);

/// Returns the sum of squares of each block of kSquareSumBlock values, in double.
inline constexpr std::int64_t kSquareSumBlock = 16384;
template <typename T>
std::vector<double> SquareSums(std::span<const T> values);

/// Returns the sum of squares of all values, in double. The result is bit-identical for any number of threads. Its
/// square root is the norm for gradient clipping.
template <typename T>
double SumOfSquares(std::span<const T> values);

}  // namespace headlight::kernels
