// The problem types of classification.
#pragma once

namespace headlight {

/// The interpretation of class scores: the `problem_type` of Transformers.
enum class Problem {
  one_label,       ///< softmax: exactly one class is correct
  several_labels,  ///< a sigmoid per class: each class is correct or incorrect
  number,          ///< regression: the score is the prediction
};

}  // namespace headlight
