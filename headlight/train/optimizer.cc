#include "headlight/train/optimizer.h"

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/kernels/adam.h"

namespace headlight {

Optimizer::Optimizer(const AdamOptions& adam, const Parameters& parameters) : options(adam) {
  Check(adam.beta1 >= 0 && adam.beta1 < 1 && adam.beta2 >= 0 && adam.beta2 < 1 && adam.epsilon > 0 &&
            adam.weight_decay >= 0 && adam.clip_norm >= 0 && adam.average_decay >= 0 && adam.average_decay < 1,
        "Adam needs decays from 0 to below 1, an epsilon above 0, and a weight decay and clipping norm of 0 or more");
  const Shape shape{parameters.values().elements()};
  m = Tensor::Zeros(shape, parameters.dtype());
  v = Tensor::Zeros(shape, parameters.dtype());
  if (options.average_decay > 0) average = parameters.values().Clone();
}

double Optimizer::Step(Parameters& parameters, double learning_rate) {
  double norm = 0;
  Dispatch(parameters.dtype(), [&]<typename T>(T) {
    norm = std::sqrt(kernels::SumOfSquares<T>(parameters.gradients().span<T>()));
    Check(std::isfinite(norm), "the gradient's norm is {} at step {}", norm, step + 1);
    ++step;
    // Averages begin short, so that the first values do not linger: decay (1 + t) / (10 + t) until it is reached.
    const auto t = static_cast<double>(step);
    const kernels::AdamStep adam{
        .step = step,
        .learning_rate = learning_rate,
        .beta1 = options.beta1,
        .beta2 = options.beta2,
        .epsilon = options.epsilon,
        .weight_decay = options.weight_decay,
        .gradient_scale = options.clip_norm > 0 && norm > options.clip_norm ? options.clip_norm / norm : 1,
        .average_decay = std::min(options.average_decay, (1 + t) / (10 + t))};
    kernels::AdamUpdate<T>(adam, parameters.values().span<T>(), parameters.gradients().span<T>(), m.span<T>(),
                           v.span<T>(), average.empty() ? std::span<T>() : average.span<T>());
  });
  parameters.gradients().Fill(0);
  return norm;
}

}  // namespace headlight
