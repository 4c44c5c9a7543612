// Teacher forcing: the decoder reads the reference, and is asked at each of its tokens for the next.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/nn/encoder_decoder.h"

namespace headlight {

// [1]: `scale` times the sum of the losses of the batch's target tokens.
Tensor TeacherForcedLoss(const EncoderDecoder& model, Context& context, const Batch& batch, double label_smoothing,
                         double scale);

// [1]: `scale` times the sum of the losses of a batch's labels. A training is for any model and task that has one.
using BatchLoss = std::function<Tensor(Context& context, const Batch& batch, double scale)>;

// Adds to a model's gradients those of the mean loss of all labels, and returns that loss. Batches go through the model
// in parts, whose activations are all that exists at a time; dropout follows from `seed`.
HEADLIGHT_API double AddGradients(const BatchLoss& loss, std::span<const Batch> batches, std::uint64_t seed);
HEADLIGHT_API double AddGradients(EncoderDecoder& model, std::span<const Batch> batches, double label_smoothing,
                                  std::uint64_t seed);

struct ReferenceLoss {
  double mean = 0;          // negative log-probability of a target token, in nats
  std::int64_t tokens = 0;  // of the targets, their ends included
};

// Of pairs (ids without ends) that fit into the model's positions.
HEADLIGHT_API ReferenceLoss MeanLoss(const EncoderDecoder& model, std::span<const std::vector<std::int32_t>> sources,
                                     std::span<const std::vector<std::int32_t>> targets);

}  // namespace headlight
