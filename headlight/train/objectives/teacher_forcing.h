// Teacher forcing: the decoder's input is the reference, and the model predicts each next token of the reference.
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
  double label_smoothing = 0.1;  // fraction of the probability that is spread over the whole vocabulary
  /// The weight of the divergence between two passes over each batch with different dropout masks
  /// (ops::ProjectionCrossEntropy). 0 means a single pass. The first r_drop_after epochs always have a single pass.
  double r_drop = 0;
  std::int64_t r_drop_after = 0;
};

/// Throws Error unless label_smoothing is at least 0 and below 1.
void CheckLabelSmoothing(double label_smoothing);

/// Throws Error if an option is out of range.
void CheckTeacherForcing(const TeacherForcingOptions& options);

/// Returns TrainingTask::batches of examples. The payload of a part is a TokenBatch, or `Twice` of a TokenBatch after
/// the start of R-Drop.
HEADLIGHT_API std::function<std::function<TrainingBatch()>(const BatchPosition& position)> BatchesOf(
    TokenExamples examples, const TeacherForcingOptions& options);

/// Returns the loss, [1]: `scale` times the sum over the batch's target tokens. If the batch is `Twice` of another
/// batch, the divergence between its halves is added with the weight r_drop.
HEADLIGHT_API Tensor TeacherForcedLoss(const EncoderDecoder& model, Context& context, const TokenBatch& batch,
                                       double label_smoothing, double scale, double r_drop = 0);

/// Returns the same loss for encoded sources. `memory` has one entry for each target.
HEADLIGHT_API Tensor TeacherForcedLoss(const ConditionalDecoder& model, Context& context, const Memory& memory,
                                       const TokenBatch& batch, double label_smoothing, double scale,
                                       double r_drop = 0);

/// Returns a task that trains on pairs and validates with `validate`.
TrainingTask TeacherForcingTask(EncoderDecoder& model, TokenExamples pairs, const TeacherForcingOptions& options,
                                std::function<ValidationReport(const PassWatch& watch)> validate);

struct ReferenceLoss {
  double sum = 0;           // sum of negative log-probabilities of the target tokens, in nats
  std::int64_t tokens = 0;  // number of target tokens, including their end tokens
  double mean() const { return tokens == 0 ? 0 : sum / static_cast<double>(tokens); }
};

/// Returns the loss of pairs (ids without end tokens) that fit into the model's positions. Ranks divide the batches.
HEADLIGHT_API ReferenceLoss LossOfPairs(const EncoderDecoder& model, std::span<const std::vector<std::int32_t>> sources,
                                        std::span<const std::vector<std::int32_t>> targets,
                                        const PassWatch& watch = {});
ReferenceLoss LossOfPairs(const EncoderDecoder& model, const TokenExamples& pairs, const PassWatch& watch);

/// Returns the model's greedy output for each source (ids in the form that the encoder expects). Outputs have at most
/// `longest` tokens, because an undertrained model may never generate an end token. Ranks divide the sources.
std::vector<std::vector<std::int32_t>> GreedyTargets(const EncoderDecoder& model,
                                                     const std::vector<std::vector<std::int32_t>>& sources,
                                                     std::size_t longest, const PassWatch& watch);

/// Returns the cross-entropy of states [rows, model] and labels [rows]. The output projection is the same as in
/// ops::ProjectionCrossEntropy. The bias may be empty or trained. Throws Error for R-Drop with a trained bias.
HEADLIGHT_API Tensor OutputLoss(const Tensor& hidden, const ops::Weight& weight, const Tensor& bias,
                                std::span<const std::int32_t> labels, double label_smoothing, double scale,
                                double r_drop, double logit_cap = 0);

}  // namespace headlight
