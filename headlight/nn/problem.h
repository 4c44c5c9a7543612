// The kinds of classification.
#pragma once

namespace headlight {

// How the scores of a text's classes are read: as Transformers' `problem_type` says it.
enum class Problem {
  one_label,       // a softmax: one class is right
  several_labels,  // a sigmoid each: each class is right or not
  number,          // a regression: the scores are the answer
};

}  // namespace headlight
