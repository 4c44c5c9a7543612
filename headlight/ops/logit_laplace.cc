#include "headlight/ops/logit_laplace.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {

Tensor LogitLaplace(const Tensor& parameters, const Tensor& targets, double scale) {
  const std::int64_t channels = targets.columns();
  Check(parameters.rows() == targets.rows() && parameters.columns() == 2 * channels,
        "LogitLaplace: parameters of shape {} do not fit targets of shape {}", ToString(parameters.shape()),
        ToString(targets.shape()));
  const Tensor loss = Tensor::Empty({1}, parameters.dtype());
  const Tensor gradient =  // for an incoming gradient of 1
      parameters.node() != nullptr ? Tensor::Empty(parameters.shape(), parameters.dtype()) : Tensor();
  std::vector<double> sums(static_cast<std::size_t>(targets.rows()));
  Dispatch(parameters.dtype(), [&]<typename T>(T) {
    ParallelFor(targets.rows(), [&](std::int64_t row) {
      const T *const mu = parameters.matrix<T>().row(row), *const log_b = mu + channels;
      double& sum = sums[static_cast<std::size_t>(row)];
      for (std::int64_t i = 0; i < channels; ++i) {
        const double x = targets.matrix<T>().row(row)[i];
        Check(x > 0 && x < 1, "LogitLaplace: target {} of row {} is {}, and must be above 0 and below 1", i, row, x);
        const double distance = std::log(x / (1 - x)) - static_cast<double>(mu[i]);
        const double inverse_b = std::exp(-static_cast<double>(log_b[i]));
        sum += std::abs(distance) * inverse_b + std::log(2 * x * (1 - x)) + static_cast<double>(log_b[i]);
        if (gradient.empty()) continue;
        T* const d_mu = gradient.matrix<T>().row(row);
        d_mu[i] = static_cast<T>(scale * (distance > 0 ? -inverse_b : distance < 0 ? inverse_b : 0));
        d_mu[channels + i] = static_cast<T>(scale * (1 - std::abs(distance) * inverse_b));
      }
    });
    loss.data<T>()[0] = static_cast<T>(scale * std::accumulate(sums.begin(), sums.end(), 0.0));
  });
  return Record(loss, {&parameters}, [node = parameters.node(), gradient](const Tensor& incoming) {
    ScaleByIncoming(gradient, incoming);
    Accumulate(node, gradient);
  });
}

}  // namespace headlight::ops
