// The kinds of classification.
#pragma once

namespace headlight {

/// How the scores of a text's classes are interpreted: the `problem_type` of Transformers.
enum class Problem {
  one_label,       ///< softmax: exactly one class is correct
  several_labels,  ///< a sigmoid per class: each class is correct or not
  number,          ///< regression: the scores are the prediction
};

}  // namespace headlight
