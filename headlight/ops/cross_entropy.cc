#include "headlight/ops/cross_entropy.h"

#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/kernels/cross_entropy.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {
namespace {

// Multiplies each row's loss and, if present, its gradient by the weight of its label. There are few classes, so the
// cost is negligible.
template <typename T>
void Weigh(std::span<const std::int32_t> labels, std::span<const double> class_weights, std::span<double> losses,
           const Tensor& d_logits) {
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] < 0) continue;
    const double weight = class_weights[static_cast<std::size_t>(labels[row])];
    losses[row] *= weight;
    if (d_logits.empty()) continue;
    T* const gradient = d_logits.matrix<T>().row(static_cast<std::int64_t>(row));
    for (std::int64_t i = 0; i < d_logits.columns(); ++i) gradient[i] = static_cast<T>(gradient[i] * weight);
  }
}

}  // namespace

Tensor CrossEntropy(const Tensor& logits, std::span<const std::int32_t> labels, double scale,
                    std::span<const double> class_weights) {
  Check(logits.shape().rank() == 2 && static_cast<std::int64_t>(labels.size()) == logits.rows(),
        "CrossEntropy: logits of shape {} do not fit {} labels", ToString(logits.shape()), labels.size());
  Check(class_weights.empty() || std::ssize(class_weights) == logits.columns(),
        "CrossEntropy: {} class weights do not fit logits of shape {}", class_weights.size(), ToString(logits.shape()));
  const Tensor loss = Tensor::Empty({1}, logits.dtype());
  // The gradient is computed in the forward pass, for an incoming gradient of 1.
  const Tensor d_logits = logits.node() != nullptr ? logits.Clone() : Tensor();
  std::vector<double> losses(labels.size());
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    if (d_logits.empty())
      kernels::CrossEntropyRows<T>(logits.matrix<T>(), labels, 0, losses);
    else
      kernels::CrossEntropyRowsGradient<T>(d_logits.matrix<T>(), labels, 0, scale, losses);
    if (!class_weights.empty()) Weigh<T>(labels, class_weights, losses, d_logits);
    loss.data<T>()[0] = static_cast<T>(scale * std::accumulate(losses.begin(), losses.end(), 0.0));
  });
  return Record(loss, {&logits}, [x = logits.node(), d_logits](const Tensor& gradient) {
    ScaleByIncoming(d_logits, gradient);
    Accumulate(x, d_logits);
  });
}

}  // namespace headlight::ops
