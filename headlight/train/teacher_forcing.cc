#include "headlight/train/teacher_forcing.h"

#include <algorithm>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/ops/projection_cross_entropy.h"

namespace headlight {
namespace {

// Labels of a batch whose activations exist at the same time: more makes no product faster, but takes more memory.
constexpr std::int64_t kTokensAtOnce = 2560;

using Sentences = std::span<const std::vector<std::int32_t>>;

// Pairs one after another, each with its end or after the start.
Batch BatchOf(Sentences sources, Sentences targets, const EncoderDecoder::Limits& limits) {
  Batch batch;
  std::vector<std::int32_t> source_lengths, target_lengths;
  for (std::size_t pair = 0; pair < sources.size(); ++pair) {
    const auto &source = sources[pair], &target = targets[pair];
    batch.source_ids.insert(batch.source_ids.end(), source.begin(), source.end());
    batch.source_ids.push_back(limits.end_id);
    batch.target_inputs.push_back(limits.start_id);
    batch.target_inputs.insert(batch.target_inputs.end(), target.begin(), target.end());
    batch.labels.insert(batch.labels.end(), target.begin(), target.end());
    batch.labels.push_back(limits.end_id);
    source_lengths.push_back(static_cast<std::int32_t>(source.size() + 1));
    target_lengths.push_back(static_cast<std::int32_t>(target.size() + 1));
  }
  batch.source = PackedSequences(source_lengths);
  batch.target = PackedSequences(target_lengths);
  return batch;
}

}  // namespace

Tensor TeacherForcedLoss(const EncoderDecoder& model, Context& context, const Batch& batch, double label_smoothing,
                         double scale) {
  const Memory memory{model.Encode(context, batch.source_ids, batch.source), batch.source};
  const Tensor hidden = model.Decode(context, batch.target_inputs, batch.target, memory);
  return ops::ProjectionCrossEntropy(hidden, model.OutputWeight(context), model.OutputBias(context), batch.labels,
                                     label_smoothing, scale);
}

double AddGradients(const BatchLoss& loss, std::span<const Batch> batches, std::uint64_t seed) {
  std::int64_t labels = 0;
  for (const Batch& batch : batches) labels += LabelCount(batch);
  if (labels == 0) return 0;
  double sum = 0;
  std::uint64_t part_index = 0;
  for (const Batch& batch : batches) {
    for (const Batch& part : SplitBatch(batch, kTokensAtOnce)) {
      Tape tape;
      Context context;
      context.tape = &tape;
      context.training = true;
      context.seed = MixBits(MixBits(seed) + ++part_index);
      const Tensor part_loss = loss(context, part, 1 / static_cast<double>(labels));
      sum += static_cast<double>(part_loss.data<float>()[0]);
      tape.Backward(part_loss);
    }
  }
  return sum;
}

double AddGradients(EncoderDecoder& model, std::span<const Batch> batches, double label_smoothing, std::uint64_t seed) {
  return AddGradients([&](Context& context, const Batch& batch,
                          double scale) { return TeacherForcedLoss(model, context, batch, label_smoothing, scale); },
                      batches, seed);
}

ReferenceLoss MeanLoss(const EncoderDecoder& model, Sentences sources, Sentences targets) {
  Ensure(sources.size() == targets.size(), "{} sources and {} targets are no pairs", sources.size(), targets.size());
  constexpr std::size_t kPairs = 128;  // of a batch
  double sum = 0;
  ReferenceLoss loss;
  for (std::size_t begin = 0; begin < sources.size(); begin += kPairs) {
    const std::size_t count = std::min(kPairs, sources.size() - begin);
    const Batch batch = BatchOf(sources.subspan(begin, count), targets.subspan(begin, count), model.limits());
    Context context;
    sum += static_cast<double>(TeacherForcedLoss(model, context, batch, 0, 1).data<float>()[0]);
    loss.tokens += static_cast<std::int64_t>(batch.labels.size());
  }
  loss.mean = sum / static_cast<double>(std::max<std::int64_t>(1, loss.tokens));
  return loss;
}

}  // namespace headlight
