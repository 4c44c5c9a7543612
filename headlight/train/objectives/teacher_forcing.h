// Teacher forcing: the decoder's input is the reference, and each next token of it is predicted.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/token_batches.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct TeacherForcingOptions {
  BatchOptions batches;
  double label_smoothing = 0.1;  // the share of the probability that is spread over the whole vocabulary
  /// The weight of the divergence between two passes over each batch with different dropout masks
  /// (ops::ProjectionCrossEntropy). 0: a single pass, which is also used in the first r_drop_after epochs.
  double r_drop = 0;
  std::int64_t r_drop_after = 0;
};

/// Throws Error unless it is at least 0 and below 1.
void CheckLabelSmoothing(double label_smoothing);

/// Throws Error if an option is out of range.
void CheckTeacherForcing(const TeacherForcingOptions& options);

/// TrainingTask::batches of examples. The payload of their parts is TokenBatch, or once R-Drop has started, `Twice` of
/// one.
HEADLIGHT_API std::function<std::function<TrainingBatch()>(const BatchPosition& position)> BatchesOf(
    TokenExamples examples, const TeacherForcingOptions& options);

/// The loss [1]: `scale` times the sum over the batch's target tokens. If the batch is `Twice` of another, the
/// divergence between its halves is added with the weight r_drop.
HEADLIGHT_API Tensor TeacherForcedLoss(const EncoderDecoder& model, Context& context, const TokenBatch& batch,
                                       double label_smoothing, double scale, double r_drop = 0);

/// The same loss for sources that an encoder has read: one entry of the memory for each target.
HEADLIGHT_API Tensor TeacherForcedLoss(const ConditionalDecoder& model, Context& context, const Memory& memory,
                                       const TokenBatch& batch, double label_smoothing, double scale,
                                       double r_drop = 0);

/// A task to train on pairs, with the given validation.
TrainingTask TeacherForcingTask(EncoderDecoder& model, TokenExamples pairs, const TeacherForcingOptions& options,
                                std::function<ValidationReport(const PassWatch& watch)> validate);

struct ReferenceLoss {
  double sum = 0;           // of negative log-probabilities of the target tokens, in nats
  std::int64_t tokens = 0;  // of the targets, including their end tokens
  double mean() const { return tokens == 0 ? 0 : sum / static_cast<double>(tokens); }
};

/// The loss of pairs (ids without end tokens) that fit into the model's positions. Ranks divide the batches.
HEADLIGHT_API ReferenceLoss LossOfPairs(const EncoderDecoder& model, std::span<const std::vector<std::int32_t>> sources,
                                        std::span<const std::vector<std::int32_t>> targets,
                                        const PassWatch& watch = {});
ReferenceLoss LossOfPairs(const EncoderDecoder& model, const TokenExamples& pairs, const PassWatch& watch);

/// The model's greedy output for each source (ids as its encoder reads them), at most `longest` tokens, since a model
/// early in training repeats itself without end. Ranks divide the sources.
std::vector<std::vector<std::int32_t>> GreedyTargets(const EncoderDecoder& model,
                                                     const std::vector<std::vector<std::int32_t>>& sources,
                                                     std::size_t longest, const PassWatch& watch);

/// The cross-entropy of states [rows, model] against labels [rows], through an output projection whose bias may be
/// empty or trained, as ops::ProjectionCrossEntropy. Throws Error for R-Drop with a trained bias.
HEADLIGHT_API Tensor OutputLoss(const Tensor& hidden, const ops::Weight& weight, const Tensor& bias,
                                std::span<const std::int32_t> labels, double label_smoothing, double scale,
                                double r_drop, double logit_cap = 0);

}  // namespace headlight
