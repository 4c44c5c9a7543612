#include "headlight/nn/contrastive_loss.h"

#include <numeric>
#include <vector>

#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/sigmoid_cross_entropy.h"

namespace headlight {

Tensor SoftmaxPairLoss(const Tensor& a_to_b, const Tensor& b_to_a, double scale) {
  std::vector<std::int32_t> own(static_cast<std::size_t>(a_to_b.rows()));
  std::iota(own.begin(), own.end(), 0);
  return ops::Add(ops::CrossEntropy(a_to_b, own, scale / 2), ops::CrossEntropy(b_to_a, own, scale / 2));
}

Tensor SigmoidPairLoss(const Tensor& logits, double scale) {
  const Tensor targets = Tensor::Zeros(logits.shape(), logits.dtype());
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    for (std::int64_t i = 0; i < targets.columns(); ++i) targets.matrix<T>().row(i)[i] = 1;
  });
  return ops::SigmoidCrossEntropy(logits, targets, scale);
}

Tensor ContrastiveLoss(Context& context, const DualEncoder& model, const Tensor& pictures, const Tensor& texts,
                       double scale) {
  if (model.limits().scores == DualEncoder::Scores::sigmoid)
    return SigmoidPairLoss(model.Logits(context, texts, pictures), scale);
  std::vector<std::int32_t> own(static_cast<std::size_t>(pictures.rows()));
  std::iota(own.begin(), own.end(), 0);
  const Tensor paired = texts.rows() == pictures.rows() ? texts : ops::Embedding(texts, own);
  return SoftmaxPairLoss(model.Logits(context, paired, pictures), model.Logits(context, pictures, texts), scale);
}

}  // namespace headlight
