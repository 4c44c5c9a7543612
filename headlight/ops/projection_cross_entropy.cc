#include "headlight/ops/projection_cross_entropy.h"

#include <numeric>
#include <utility>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/cross_entropy.h"
#include "headlight/kernels/soft_cap.h"
#include "headlight/ops/loss_gradient.h"
#include "headlight/ops/weight.h"

namespace headlight::ops {
namespace {

// The number of rows whose logits exist at the same time. For a vocabulary of 8,000, the logits take 8 MB, which fits
// into a third-level cache.
constexpr std::int64_t kBlockRows = 256;

}  // namespace

Tensor ProjectionCrossEntropy(const Tensor& x, const Weight& weight, const Tensor& bias,
                              std::span<const std::int32_t> labels, double label_smoothing, double scale, double r_drop,
                              double logit_cap) {
  const std::int64_t passes = r_drop > 0 ? 2 : 1, all_rows = std::ssize(labels);
  const Tensor& w = weight.value;
  const Shape shape = weight.shape();
  Check(shape.rank() == 2 && x.shape().rank() == 2 && x.columns() == shape[1] && passes * all_rows == x.rows(),
        "ProjectionCrossEntropy: x of shape {} does not fit a weight of shape {} and {} labels", ToString(x.shape()),
        ToString(shape), labels.size());
  Ensure(bias.node() == nullptr, "ProjectionCrossEntropy: its bias gets no gradient");
  const std::int64_t vocab = shape[0];
  // Gradients are computed in the forward pass, while a block's logits exist, for an incoming gradient of 1. The
  // weight's gradient has separate memory until the backward pass, which may scale it or never reach this node.
  const bool wants_gradient = RequiresGradient({&x, &w});
  const Tensor dx = x.node() != nullptr ? Tensor::Empty(x.shape(), x.dtype()) : Tensor();
  const Tensor dw = w.node() != nullptr ? Tensor::Zeros(shape, x.dtype()) : Tensor();
  const Tensor loss = Tensor::Empty({1}, x.dtype());
  const Tensor scores = Tensor::Empty({std::min(kBlockRows, x.rows()), vocab}, x.dtype());
  // The loss overwrites the logits with their gradient, so the derivative of the cap is computed from this copy.
  const Tensor capped = logit_cap > 0 && wants_gradient ? Tensor::Empty(scores.shape(), x.dtype()) : Tensor();
  std::vector<double> losses(labels.size());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    kernels::PackedMatrix<T> made;
    const kernels::PackedMatrix<T>& packed = PackedTransposed<T>(weight, made);
    const auto packed_back = x.node() != nullptr ? Packed<T>(weight) : kernels::PackedMatrix<T>();
    for (std::int64_t begin = 0; begin < all_rows; begin += kBlockRows / passes) {
      const std::int64_t rows = std::min(kBlockRows / passes, all_rows - begin);
      const auto block_labels = labels.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows));
      const auto block_losses =
          std::span(losses).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows));
      const auto block = [&](std::int64_t pass) { return scores.matrix<T>().Rows(pass * rows, rows); };
      const auto rows_of = [&](const Tensor& all, std::int64_t pass) {
        return all.matrix<T>().Rows(pass * all_rows + begin, rows);
      };
      for (std::int64_t pass = 0; pass < passes; ++pass)
        kernels::Gemm<T>(rows_of(x, pass), packed, block(pass), bias.empty() ? nullptr : bias.data<T>());
      const auto both = [&](const Tensor& all) { return all.matrix<T>().Rows(0, passes * rows); };
      if (logit_cap > 0) kernels::SoftCapRows<T>(both(scores), static_cast<T>(logit_cap), both(scores));
      if (!capped.empty()) capped.ViewRows(0, passes * rows).CopyFrom(scores.ViewRows(0, passes * rows));
      if (r_drop > 0)
        kernels::ConsistentCrossEntropyRowsGradient<T>(block(0), block(1), block_labels, label_smoothing, r_drop, scale,
                                                       block_losses);
      else if (wants_gradient)
        kernels::CrossEntropyRowsGradient<T>(block(0), block_labels, label_smoothing, scale, block_losses);
      else
        kernels::CrossEntropyRows<T>(block(0), block_labels, label_smoothing, block_losses);
      if (!wants_gradient) continue;
      if (logit_cap > 0)
        kernels::SoftCapRowsGradient<T>(both(capped), static_cast<T>(logit_cap), both(scores), both(scores));
      for (std::int64_t pass = 0; pass < passes; ++pass) {
        if (x.node() != nullptr) kernels::Gemm<T>(block(pass), packed_back, rows_of(dx, pass));
        if (w.node() != nullptr)
          kernels::GemmTransposed<T>(block(pass), rows_of(x, pass), dw.matrix<T>(), weight.compute);
      }
    }
    loss.data<T>()[0] = static_cast<T>(scale * std::accumulate(losses.begin(), losses.end(), 0.0));
  });
  return Record(loss, {&x, &w}, [x = x.node(), w = w.node(), dx, dw](const Tensor& gradient) {
    for (const auto& [node, saved] : {std::pair(x, dx), std::pair(w, dw)}) {
      if (node == nullptr) continue;
      ScaleByIncoming(saved, gradient);
      Accumulate(node, saved);
    }
  });
}

}  // namespace headlight::ops
