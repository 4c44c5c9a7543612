#include "headlight/ops/cross_entropy.h"

#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/kernels/cross_entropy.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {

Tensor CrossEntropy(const Tensor& logits, std::span<const std::int32_t> labels, double scale) {
  Check(logits.shape().rank() == 2 && static_cast<std::int64_t>(labels.size()) == logits.rows(),
        "CrossEntropy: logits of shape {} do not fit {} labels", ToString(logits.shape()), labels.size());
  const Tensor loss = Tensor::Empty({1}, logits.dtype());
  // Computed here, for an incoming gradient of 1.
  const Tensor d_logits = logits.node() != nullptr ? logits.Clone() : Tensor();
  std::vector<double> losses(labels.size());
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    if (d_logits.empty())
      kernels::CrossEntropyRows<T>(logits.matrix<T>(), labels, 0, losses);
    else
      kernels::CrossEntropyRowsGradient<T>(d_logits.matrix<T>(), labels, 0, scale, losses);
    loss.data<T>()[0] = static_cast<T>(scale * std::accumulate(losses.begin(), losses.end(), 0.0));
  });
  return Record(loss, {&logits}, [x = logits.node(), d_logits](const Tensor& gradient) {
    ScaleByIncoming(d_logits, gradient);
    Accumulate(x, d_logits);
  });
}

}  // namespace headlight::ops
