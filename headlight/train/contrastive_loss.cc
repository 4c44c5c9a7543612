#include "headlight/train/contrastive_loss.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/sigmoid_cross_entropy.h"

namespace headlight {
namespace {

// Adds a large negative number to the logits between equal texts, except for the pairs themselves. `first` is the
// result of FirstOfEqual for all texts. Row i and column i of `logits` belong to text i.
Tensor WithoutEqual(const Tensor& logits, std::span<const std::int32_t> first) {
  constexpr double kNever = -1e9;
  Check(std::max(logits.rows(), logits.columns()) <= std::ssize(first), "a contrastive loss has {} texts for logits {}",
        first.size(), ToString(logits.shape()));
  Tensor never;
  std::map<std::int32_t, std::vector<std::int64_t>> equal;
  for (std::int64_t i = 0; i < std::ssize(first); ++i) equal[first[static_cast<std::size_t>(i)]].push_back(i);
  for (const auto& entry : equal) {
    const std::vector<std::int64_t>& indices = entry.second;
    if (indices.size() < 2) continue;
    if (never.empty()) never = Tensor::Zeros(logits.shape(), logits.dtype());
    Dispatch(logits.dtype(), [&]<typename T>(T) {
      const Matrix<T> all = never.matrix<T>();
      for (const std::int64_t row : indices)
        for (const std::int64_t column : indices)
          if (row != column && row < logits.rows() && column < logits.columns())
            all.row(row)[column] = static_cast<T>(kNever);
    });
  }
  return never.empty() ? logits : ops::Add(logits, never);
}

}  // namespace

std::vector<std::int32_t> FirstOfEqual(std::span<const std::vector<std::int32_t>> texts) {
  std::map<std::vector<std::int32_t>, std::int32_t> indices;
  std::vector<std::int32_t> first;
  for (const std::vector<std::int32_t>& text : texts)
    first.push_back(indices.try_emplace(text, static_cast<std::int32_t>(first.size())).first->second);
  return first;
}

Tensor SoftmaxPairLoss(const Tensor& a_to_b, const Tensor& b_to_a, std::span<const std::int32_t> first, double scale) {
  std::vector<std::int32_t> own(static_cast<std::size_t>(a_to_b.rows()));
  std::iota(own.begin(), own.end(), 0);
  return ops::Add(ops::CrossEntropy(WithoutEqual(a_to_b, first), own, scale / 2),
                  ops::CrossEntropy(WithoutEqual(b_to_a, first), own, scale / 2));
}

Tensor SigmoidPairLoss(const Tensor& logits, std::span<const std::int32_t> first, double scale) {
  const Tensor targets = Tensor::Zeros(logits.shape(), logits.dtype());
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    for (std::int64_t i = 0; i < targets.columns(); ++i) targets.matrix<T>().row(i)[i] = 1;
  });
  return ops::SigmoidCrossEntropy(WithoutEqual(logits, first), targets, scale);
}

Tensor ContrastiveLoss(Context& context, const DualEncoder& model, const Tensor& images, const Tensor& texts,
                       std::span<const std::int32_t> first, double scale) {
  if (model.limits().scores == DualEncoder::Scores::sigmoid)
    return SigmoidPairLoss(model.Logits(context, texts, images), first, scale);
  std::vector<std::int32_t> own(static_cast<std::size_t>(images.rows()));
  std::iota(own.begin(), own.end(), 0);
  const Tensor paired = texts.rows() == images.rows() ? texts : ops::Embedding(texts, own);
  return SoftmaxPairLoss(model.Logits(context, paired, images), model.Logits(context, images, texts), first, scale);
}

}  // namespace headlight
