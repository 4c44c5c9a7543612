// Cross-entropy over the rows of a sequence, for example to find the start of an answer among the tokens of a text.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times the sum of cross-entropies, one per sequence and column, of shape [1]. Each column of scores
/// [rows, columns] has a softmax over the rows of each sequence. labels [sequences, columns] are rows relative to the
/// start of the sequence. Negative labels are ignored. Throws Error if shapes do not fit or a label is outside its
/// sequence.
HEADLIGHT_API Tensor SequenceCrossEntropy(const Tensor& scores, const Sequences& sequences,
                                          std::span<const std::int32_t> labels, double scale);

}  // namespace headlight::ops
