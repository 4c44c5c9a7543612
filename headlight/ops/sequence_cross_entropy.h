// Cross-entropy over the rows of a sequence, such as of where an answer begins among the tokens of a text.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: of scores [rows, columns] each column has a softmax over the rows of each sequence; `scale` times the sum of
// their cross-entropies against labels [sequences, columns], which count rows from the sequence's first. A negative
// label does not count. Throws Error where shapes do not fit or a label is not in its sequence.
HEADLIGHT_API Tensor SequenceCrossEntropy(const Tensor& scores, const Sequences& sequences,
                                          std::span<const std::int32_t> labels, double scale);

}  // namespace headlight::ops
