// Cross-entropy of a class for every row. With a vocabulary of classes, ProjectionCrossEntropy needs less memory.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times the sum of the rows' cross-entropies of logits [rows, classes] against labels[r]; a row whose label
// is negative does not count. Where there are class_weights [classes], a row's is multiplied by that of its label.
// Throws Error where shapes do not fit or a label is not below classes.
HEADLIGHT_API Tensor CrossEntropy(const Tensor& logits, std::span<const std::int32_t> labels, double scale,
                                  std::span<const double> class_weights = {});

}  // namespace headlight::ops
