#include "headlight/train/objectives/teacher_forcing.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/batched.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/ops/soft_cap.h"
#include "headlight/ops/soft_cross_entropy.h"
#include "headlight/train/objectives/token_task.h"
#include "headlight/train/shared_pass.h"

namespace headlight {

void CheckLabelSmoothing(double label_smoothing) {
  Check(label_smoothing >= 0 && label_smoothing < 1, "label smoothing must be from 0 to below 1, not {}",
        label_smoothing);
}

void CheckTeacherForcing(const TeacherForcingOptions& options) {
  CheckLabelSmoothing(options.label_smoothing);
  Check(options.r_drop >= 0 && std::isfinite(options.r_drop), "the weight of R-Drop must be 0 or more, not {}",
        options.r_drop);
  Check(options.r_drop_after >= 0, "R-Drop cannot start after {} epochs", options.r_drop_after);
}

std::function<std::function<TrainingBatch()>(const BatchPosition& position)> BatchesOf(
    TokenExamples examples, const TeacherForcingOptions& options) {
  auto once = BatchesOf(std::move(examples), options.batches);
  if (options.r_drop == 0) return once;
  return [once = std::move(once), after = options.r_drop_after](const BatchPosition& position) {
    return [next = once(position), epoch = position.epoch, after]() mutable {
      TrainingBatch batch = next();
      if (epoch >= after)
        for (TrainingPart& part : batch.parts) part = TrainingPart(Twice(part.As<TokenBatch>()));
      epoch = batch.next.epoch;
      return batch;
    };
  };
}

Tensor TeacherForcedLoss(const EncoderDecoder& model, Context& context, const TokenBatch& batch, double label_smoothing,
                         double scale, double r_drop) {
  const Memory memory{model.Encode(context, batch.source_ids, batch.source), batch.source};
  return TeacherForcedLoss(model, context, memory, batch, label_smoothing, scale, r_drop);
}

Tensor TeacherForcedLoss(const ConditionalDecoder& model, Context& context, const Memory& memory,
                         const TokenBatch& batch, double label_smoothing, double scale, double r_drop) {
  const Tensor hidden = model.Decode(context, batch.target_inputs, batch.target, memory);
  return OutputLoss(hidden, model.OutputWeight(context), model.OutputBias(context), batch.labels, label_smoothing,
                    scale, batch.twice ? r_drop : 0);
}

Tensor OutputLoss(const Tensor& hidden, const ops::Weight& weight, const Tensor& bias,
                  std::span<const std::int32_t> labels, double label_smoothing, double scale, double r_drop,
                  double logit_cap) {
  if (bias.empty() || bias.node() == nullptr)
    return ops::ProjectionCrossEntropy(hidden, weight, bias, labels, label_smoothing, scale, r_drop, logit_cap);
  Check(r_drop == 0, "R-Drop does not support a trained output bias");
  // With a trained bias, the logits must be materialized.
  const Tensor logits = ops::SoftCap(ops::Linear(hidden, weight, bias), logit_cap);
  if (label_smoothing == 0) return ops::CrossEntropy(logits, labels, scale);
  const Tensor targets = Tensor::Empty(logits.shape(), logits.dtype());
  Dispatch(logits.dtype(), [&]<typename T>(T) {
    for (std::size_t row = 0; row < labels.size(); ++row) {
      T* const target = targets.matrix<T>().row(static_cast<std::int64_t>(row));
      const bool labeled = labels[row] >= 0;
      std::fill_n(target, logits.columns(),
                  static_cast<T>(labeled ? label_smoothing / static_cast<double>(logits.columns()) : 0));
      if (labeled) target[labels[row]] += static_cast<T>(1 - label_smoothing);
    }
  });
  return ops::SoftCrossEntropy(logits, targets, scale);
}

TrainingTask TeacherForcingTask(EncoderDecoder& model, TokenExamples pairs, const TeacherForcingOptions& options,
                                std::function<ValidationReport(const PassWatch& watch)> validate) {
  CheckTeacherForcing(options);
  return {.model = &model,
          .batches = BatchesOf(std::move(pairs), options),
          .loss =
              [&model, smoothing = options.label_smoothing, r_drop = options.r_drop](
                  Context& context, const TrainingPart& part, double scale) {
                return TeacherForcedLoss(model, context, part.As<TokenBatch>(), smoothing, scale, r_drop);
              },
          .validate = std::move(validate)};
}

ReferenceLoss LossOfPairs(const EncoderDecoder& model, const TokenExamples& pairs, const PassWatch& watch) {
  const LabelLoss loss = LossOfBatches(pairs, watch, [&](Context& context, const TokenBatch& batch) {
    return TeacherForcedLoss(model, context, batch, 0, 1);
  });
  return {loss.sum, loss.labels};
}

ReferenceLoss LossOfPairs(const EncoderDecoder& model, std::span<const std::vector<std::int32_t>> sources,
                          std::span<const std::vector<std::int32_t>> targets, const PassWatch& watch) {
  Ensure(sources.size() == targets.size(), "there are {} sources, but {} targets", sources.size(), targets.size());
  const EncoderDecoder::Limits limits = model.limits();
  const auto append = [&](std::int64_t pair, Random&, TokenBatch& batch) {
    std::vector<std::int32_t> source = sources[static_cast<std::size_t>(pair)];
    source.push_back(limits.end_id);
    AppendPair(source, targets[static_cast<std::size_t>(pair)], limits.start_id, limits.end_id, batch);
  };
  return LossOfPairs(model, {.size = std::ssize(sources), .length = {}, .append = append}, watch);
}

std::vector<std::vector<std::int32_t>> GreedyTargets(const EncoderDecoder& model,
                                                     const std::vector<std::vector<std::int32_t>>& sources,
                                                     std::size_t longest, const PassWatch& watch) {
  using TokenIds = std::vector<std::int32_t>;
  // Collects the targets of the sources with indices part, part + parts, ... Each target is preceded by its length.
  const auto found = SharedPass(watch, [&](int part, int parts, const CancelCheck& cancelled) {
    const DecodingOptions decoding{
        .search = {.beam_size = 1},
        .max_length = static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(longest), model.limits().positions)),
        .cancelled = cancelled};
    std::vector<TokenIds> own;
    for (auto i = static_cast<std::size_t>(part); i < sources.size(); i += static_cast<std::size_t>(parts))
      own.push_back(sources[i]);
    TokenIds numbers;
    // Batches are small to limit the memory for the keys and values of each token.
    for (const auto& hypotheses : DecodeInBatches(model, own, decoding, /*batch_tokens=*/1024)) {
      const TokenIds& ids = hypotheses.front().ids;
      numbers.push_back(static_cast<std::int32_t>(ids.size()));
      numbers.insert(numbers.end(), ids.begin(), ids.end());
    }
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int32_t));
  });
  std::vector<TokenIds> targets(sources.size());
  for (std::size_t part = 0; part < found.size(); ++part) {
    const TokenIds numbers = NumbersOf<std::int32_t>(found[part]);
    auto at = numbers.begin();
    for (std::size_t i = part; i < sources.size(); i += found.size()) {
      const std::int32_t length = *at++;
      targets[i].assign(at, at + length);
      at += length;
    }
  }
  return targets;
}

}  // namespace headlight
