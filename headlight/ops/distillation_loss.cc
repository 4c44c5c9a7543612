#include "headlight/ops/distillation_loss.h"

#include <functional>
#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/cross_entropy.h"
#include "headlight/kernels/softmax.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {
namespace {

// Returns the loss. Also writes its gradient, unless `d_logits` is empty.
template <typename T>
double Distil(const Tensor& logits, const Tensor& targets, std::span<const DistillationPair> pairs, double temperature,
              double scale, const Tensor& d_logits) {
  const Tensor scores = Tensor::Empty(logits.shape(), logits.dtype());
  kernels::ScaleRows<T>(logits.matrix<T>(), 1 / temperature, scores.matrix<T>());
  // Computes log(sum of exp(scores)) - scores[0] per row.
  std::vector<double> losses(static_cast<std::size_t>(logits.rows()));
  kernels::CrossEntropyRows<T>(scores.matrix<T>(), std::vector<std::int32_t>(losses.size()), 0, losses);
  if (!d_logits.empty()) kernels::SoftmaxRows<T>(scores.matrix<T>(), d_logits.matrix<T>());
  std::vector<std::vector<std::int32_t>> teachers(losses.size());
  for (const DistillationPair& pair : pairs) teachers[static_cast<std::size_t>(pair.student)].push_back(pair.teacher);
  ParallelFor(logits.rows(), [&](std::int64_t row) {
    const auto index = static_cast<std::size_t>(row);
    const std::int64_t classes = logits.columns();
    std::vector<T> wanted(static_cast<std::size_t>(classes));  // the sum of the targets of one row
    for (const std::int32_t teacher : teachers[index]) {
      const T* const target = targets.matrix<T>().row(teacher);
      for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] += target[k];
    }
    const T* const score = scores.matrix<T>().row(row);
    const double sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    losses[index] = sum * (losses[index] + score[0]) -
                    std::transform_reduce(wanted.begin(), wanted.end(), score, 0.0, std::plus<>(),
                                          [](T a, T b) { return static_cast<double>(a) * static_cast<double>(b); });
    if (d_logits.empty()) return;
    T* const gradient = d_logits.matrix<T>().row(row);
    const T factor = static_cast<T>(scale / temperature), all = static_cast<T>(sum);
    for (std::size_t k = 0; k < wanted.size(); ++k) gradient[k] = factor * (all * gradient[k] - wanted[k]);
  });
  return scale * std::accumulate(losses.begin(), losses.end(), 0.0);
}

}  // namespace

Tensor DistillationLoss(const Tensor& logits, const Tensor& targets, std::span<const DistillationPair> pairs,
                        double temperature, double scale) {
  Check(logits.shape().rank() == 2 && targets.shape().rank() == 2 && targets.columns() == logits.columns() &&
            logits.columns() > 0 && targets.dtype() == logits.dtype(),
        "DistillationLoss: targets {} do not fit logits {}", ToString(targets.shape()), ToString(logits.shape()));
  for (const auto& [student, teacher] : pairs)
    Check(student >= 0 && student < logits.rows() && teacher >= 0 && teacher < targets.rows(),
          "DistillationLoss: rows {} and {} are outside of {} and {}", student, teacher, ToString(logits.shape()),
          ToString(targets.shape()));
  const Tensor loss = Tensor::Empty({1}, logits.dtype());
  // The gradient is computed in the forward pass, for an incoming gradient of 1.
  const Tensor d_logits = logits.node() != nullptr ? Tensor::Empty(logits.shape(), logits.dtype()) : Tensor();
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    loss.data<T>()[0] = static_cast<T>(Distil<T>(logits, targets, pairs, temperature, scale, d_logits));
  });
  return Record(loss, {&logits}, [x = logits.node(), d_logits](const Tensor& gradient) {
    ScaleByIncoming(d_logits, gradient);
    Accumulate(x, d_logits);
  });
}

}  // namespace headlight::ops
