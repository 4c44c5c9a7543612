#include "headlight/train/tasks/teacher_forcing.h"

#include <algorithm>
#include <any>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/batched.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/ops/soft_cross_entropy.h"
#include "headlight/train/tasks/token_task.h"

namespace headlight {

void CheckLabelSmoothing(double label_smoothing) {
  Check(label_smoothing >= 0 && label_smoothing < 1, "label smoothing must be from 0 to below 1, not {}",
        label_smoothing);
}

Tensor TeacherForcedLoss(const EncoderDecoder& model, Context& context, const TokenBatch& batch, double label_smoothing,
                         double scale) {
  const Memory memory{model.Encode(context, batch.source_ids, batch.source), batch.source};
  return TeacherForcedLoss(model, context, memory, batch, label_smoothing, scale);
}

Tensor TeacherForcedLoss(const ConditionalDecoder& model, Context& context, const Memory& memory,
                         const TokenBatch& batch, double label_smoothing, double scale) {
  const Tensor hidden = model.Decode(context, batch.target_inputs, batch.target, memory);
  const Tensor bias = model.OutputBias(context);
  if (bias.empty() || bias.node() == nullptr)
    return ops::ProjectionCrossEntropy(hidden, model.OutputWeight(context), bias, batch.labels, label_smoothing, scale);
  // Where a bias learns, the logits are stored.
  const Tensor logits = ops::Linear(hidden, model.OutputWeight(context), bias);
  if (label_smoothing == 0) return ops::CrossEntropy(logits, batch.labels, scale);
  const Tensor targets = Tensor::Empty(logits.shape(), logits.dtype());
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    targets.Fill(label_smoothing / static_cast<double>(logits.columns()));
    for (std::size_t row = 0; row < batch.labels.size(); ++row)
      targets.matrix<T>().row(static_cast<std::int64_t>(row))[batch.labels[row]] += static_cast<T>(1 - label_smoothing);
  });
  return ops::SoftCrossEntropy(logits, targets, scale);
}

TrainingTask TeacherForcingTask(EncoderDecoder& model, TokenExamples pairs, const TeacherForcingOptions& options,
                                std::function<ValidationReport(const CancelCheck& cancelled)> validate) {
  CheckLabelSmoothing(options.label_smoothing);
  return {.model = &model,
          .batches = BatchesOf(std::move(pairs), options.batches),
          .loss =
              [&model, smoothing = options.label_smoothing](Context& context, const std::any& part, double scale) {
                return TeacherForcedLoss(model, context, std::any_cast<const TokenBatch&>(part), smoothing, scale);
              },
          .validate = std::move(validate)};
}

ReferenceLoss LossOfPairs(const EncoderDecoder& model, const TokenExamples& pairs, const CancelCheck& cancelled) {
  ReferenceLoss loss;
  ForBatches(pairs, cancelled, [&](const TokenBatch& batch, std::size_t) {
    Context context;
    loss.sum += static_cast<double>(TeacherForcedLoss(model, context, batch, 0, 1).data<float>()[0]);
    loss.tokens += std::ssize(batch.labels);
  });
  return loss;
}

ReferenceLoss LossOfPairs(const EncoderDecoder& model, std::span<const std::vector<std::int32_t>> sources,
                          std::span<const std::vector<std::int32_t>> targets, const CancelCheck& cancelled) {
  Ensure(sources.size() == targets.size(), "{} sources and {} targets are no pairs", sources.size(), targets.size());
  const EncoderDecoder::Limits limits = model.limits();
  const auto append = [&](std::int64_t pair, Random&, TokenBatch& batch) {
    std::vector<std::int32_t> source = sources[static_cast<std::size_t>(pair)];
    source.push_back(limits.end_id);
    AppendPair(source, targets[static_cast<std::size_t>(pair)], limits.start_id, limits.end_id, batch);
  };
  return LossOfPairs(model, {.size = std::ssize(sources), .length = {}, .append = append}, cancelled);
}

std::vector<std::vector<std::int32_t>> GreedyTargets(const EncoderDecoder& model,
                                                     const std::vector<std::vector<std::int32_t>>& sources,
                                                     std::size_t longest, const CancelCheck& cancelled) {
  const DecodingOptions decoding{
      .beam_size = 1,
      .max_length = static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(longest), model.limits().positions)),
      .cancelled = cancelled};
  std::vector<std::vector<std::int32_t>> targets;
  // In small batches, since the keys and values of each token are kept.
  for (auto& hypotheses : DecodeInBatches(model, sources, decoding, /*batch_tokens=*/1024))
    targets.push_back(std::move(hypotheses.front().ids));
  return targets;
}

}  // namespace headlight
