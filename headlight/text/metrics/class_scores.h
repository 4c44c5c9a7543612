// Precision, recall and F1 of each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// The counts of one class, or of one kind of item.
struct ClassCounts {
  std::int64_t labeled = 0;         ///< items of this class
  std::int64_t predicted = 0;       ///< items that were predicted to be of this class
  std::int64_t true_positives = 0;  ///< items of this class that were predicted to be of it
  /// Return metrics from 0 to 1, or 0 if the denominator is 0.
  double precision() const;
  double recall() const;
  double f1() const;
};

/// Scores of a classification with one class per text or word.
class HEADLIGHT_API ClassScores {
 public:
  explicit ClassScores(std::size_t classes) : classes_(classes) {}

  /// Adds the true class and the predicted class of an item. A negative number means no class.
  void Add(std::int32_t label, std::int32_t predicted);

  std::int64_t count() const { return count_; }
  double accuracy() const;  ///< 0 to 1
  double macro_f1() const;  ///< the mean F1 over the classes that occur or were predicted
  const std::vector<ClassCounts>& classes() const { return classes_; }

 private:
  std::vector<ClassCounts> classes_;
  std::int64_t count_ = 0, correct_ = 0;
};

}  // namespace headlight
