// Cross-entropy between the output distributions of two networks, for self-distillation (Caron et al., "Emerging
// Properties in Self-Supervised Vision Transformers", 2021, eq. 1).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// A row of the student's logits, and the row of the teacher's targets for it.
struct DistillationPair {
  std::int32_t student = 0, teacher = 0;
};

/// Returns scale times the sum over the pairs of -sum of targets[teacher] * log softmax(logits[student] / temperature),
/// of shape [1]. logits are [student rows, classes]. targets are probabilities [teacher rows, classes] without
/// gradient. Throws Error if shapes do not fit or a pair is out of range.
HEADLIGHT_API Tensor DistillationLoss(const Tensor& logits, const Tensor& targets,
                                      std::span<const DistillationPair> pairs, double temperature, double scale);

}  // namespace headlight::ops
