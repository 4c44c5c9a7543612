#include "headlight/ops/soft_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {

Tensor SoftCrossEntropy(const Tensor& logits, const Tensor& targets, double scale) {
  Check(logits.shape().rank() == 2 && logits.shape() == targets.shape() && logits.dtype() == targets.dtype(),
        "SoftCrossEntropy: {} logits of shape {} do not fit {} targets of shape {}", Name(logits.dtype()),
        ToString(logits.shape()), Name(targets.dtype()), ToString(targets.shape()));
  const Tensor loss = Tensor::Empty({1}, logits.dtype());
  // The gradient is computed in the forward pass, for an incoming gradient of 1.
  const Tensor d_logits = logits.node() != nullptr ? Tensor::Empty(logits.shape(), logits.dtype()) : Tensor();
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    const std::int64_t classes = logits.columns();
    double sum = 0;
    for (std::int64_t row = 0; row < logits.rows(); ++row) {
      const T* const x = logits.matrix<T>().row(row);
      const T* const target = targets.matrix<T>().row(row);
      const auto largest = static_cast<double>(*std::max_element(x, x + classes));
      double exponentials = 0, weight = 0, dot = 0;
      for (std::int64_t c = 0; c < classes; ++c) {
        exponentials += std::exp(static_cast<double>(x[c]) - largest);
        weight += static_cast<double>(target[c]);
        dot += static_cast<double>(target[c]) * static_cast<double>(x[c]);
      }
      const double logarithm = largest + std::log(exponentials);
      sum += weight * logarithm - dot;
      if (d_logits.empty()) continue;
      T* const dx = d_logits.matrix<T>().row(row);
      for (std::int64_t c = 0; c < classes; ++c)
        dx[c] = static_cast<T>(
            scale * (weight * std::exp(static_cast<double>(x[c]) - logarithm) - static_cast<double>(target[c])));
    }
    loss.data<T>()[0] = static_cast<T>(scale * sum);
  });
  return Record(loss, {&logits}, [x = logits.node(), d_logits](const Tensor& gradient) {
    ScaleByIncoming(d_logits, gradient);
    Accumulate(x, d_logits);
  });
}

}  // namespace headlight::ops
