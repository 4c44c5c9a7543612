// Cross-entropy between two networks' distributions, as self-distillation compares them (Caron et al., "Emerging
// Properties in Self-Supervised Vision Transformers", 2021, eq. 1).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// A row of the student's logits, and the teacher's row that is its target.
struct DistillationPair {
  std::int32_t student = 0, teacher = 0;
};

// [1]: scale times the sum over the pairs of -sum of targets[teacher] * log softmax(logits[student] / temperature):
// logits [student rows, classes], targets [teacher rows, classes], probabilities, which get no gradient. Throws Error
// where shapes do not fit or a pair is outside of them.
HEADLIGHT_API Tensor DistillationLoss(const Tensor& logits, const Tensor& targets,
                                      std::span<const DistillationPair> pairs, double temperature, double scale);

}  // namespace headlight::ops
