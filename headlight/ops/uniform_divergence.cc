#include "headlight/ops/uniform_divergence.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/loss_gradient.h"
#include "headlight/ops/softmax.h"

namespace headlight::ops {

// Let p = softmax(l) and D = sum of p ln p + ln classes. Then dD / dl = p (ln p - sum of p ln p).
Tensor UniformDivergence(const Tensor& logits, double scale) {
  const Tensor p = Softmax(logits.Detached());
  const Tensor loss = Tensor::Empty({1}, logits.dtype());
  const Tensor gradient =  // for an incoming gradient of 1
      logits.node() != nullptr ? Tensor::Empty(logits.shape(), logits.dtype()) : Tensor();
  std::vector<double> divergences(static_cast<std::size_t>(p.rows()));
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    ParallelFor(p.rows(), [&](std::int64_t row) {
      const T* const of = p.matrix<T>().row(row);
      const auto logarithm = [](T value) { return value > 0 ? std::log(value) : T{0}; };  // p ln p is 0 for p = 0
      double sum = 0;
      for (std::int64_t i = 0; i < p.columns(); ++i) sum += static_cast<double>(of[i] * logarithm(of[i]));
      divergences[static_cast<std::size_t>(row)] = sum + std::log(static_cast<double>(p.columns()));
      if (gradient.empty()) return;
      T* const to = gradient.matrix<T>().row(row);
      for (std::int64_t i = 0; i < p.columns(); ++i)
        to[i] = static_cast<T>(scale) * of[i] * (logarithm(of[i]) - static_cast<T>(sum));
    });
    loss.data<T>()[0] = static_cast<T>(scale * std::accumulate(divergences.begin(), divergences.end(), 0.0));
  });
  return Record(loss, {&logits}, [node = logits.node(), gradient](const Tensor& incoming) {
    ScaleByIncoming(gradient, incoming);
    Accumulate(node, gradient);
  });
}

}  // namespace headlight::ops
