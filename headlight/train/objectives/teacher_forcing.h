// Teacher forcing: the decoder reads the reference, and predicts at each of its tokens the next one.
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
  double label_smoothing = 0.1;  // the share of the probability that is spread over all words
  // The weight of the divergence between two passes with different dropout masks over each batch
  // (ops::ProjectionCrossEntropy); 0: there is one pass, as there is in the first r_drop_after epochs.
  double r_drop = 0;
  std::int64_t r_drop_after = 0;
};

// Throws Error where it is not from 0 to below 1.
void CheckLabelSmoothing(double label_smoothing);

// Throws Error where an option is impossible.
void CheckTeacherForcing(const TeacherForcingOptions& options);

// TrainingTask::batches of examples, whose parts are TokenBatch: where R-Drop has begun, `Twice` of one.
HEADLIGHT_API std::function<std::function<TrainingBatch()>(const BatchPosition& position)> BatchesOf(
    TokenExamples examples, const TeacherForcingOptions& options);

// [1]: `scale` times the sum of the losses of the batch's target tokens. Where the batch is `Twice` of one, the
// divergence between both halves is added, with the weight r_drop.
HEADLIGHT_API Tensor TeacherForcedLoss(const EncoderDecoder& model, Context& context, const TokenBatch& batch,
                                       double label_smoothing, double scale, double r_drop = 0);

// The same of targets whose sources an encoder has read: one entry of the memory for each.
HEADLIGHT_API Tensor TeacherForcedLoss(const ConditionalDecoder& model, Context& context, const Memory& memory,
                                       const TokenBatch& batch, double label_smoothing, double scale,
                                       double r_drop = 0);

// The task to learn pairs, with a validation.
TrainingTask TeacherForcingTask(EncoderDecoder& model, TokenExamples pairs, const TeacherForcingOptions& options,
                                std::function<ValidationReport(const PassWatch& watch)> validate);

struct ReferenceLoss {
  double sum = 0;           // of negative log-probabilities of the target tokens, in nats
  std::int64_t tokens = 0;  // of the targets, their ends included
  double mean() const { return tokens == 0 ? 0 : sum / static_cast<double>(tokens); }
};

// Of pairs (ids without ends) that fit into the model's positions. Ranks divide the batches.
HEADLIGHT_API ReferenceLoss LossOfPairs(const EncoderDecoder& model, std::span<const std::vector<std::int32_t>> sources,
                                        std::span<const std::vector<std::int32_t>> targets,
                                        const PassWatch& watch = {});
ReferenceLoss LossOfPairs(const EncoderDecoder& model, const TokenExamples& pairs, const PassWatch& watch);

// The model's greedy output for each source (ids as its encoder reads them), at most `longest` tokens: a model that has
// not yet learned to end repeats itself. Ranks divide the sources.
std::vector<std::vector<std::int32_t>> GreedyTargets(const EncoderDecoder& model,
                                                     const std::vector<std::vector<std::int32_t>>& sources,
                                                     std::size_t longest, const PassWatch& watch);

}  // namespace headlight
