// Precision, recall and F1 of each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// Counts of one class, or of one kind of what is looked for.
struct ClassCounts {
  std::int64_t right = 0, found = 0,
               both = 0;  // how many there are, how many were found, and how many of these rightly
  // 0 to 1; each is 0 where its denominator is.
  double precision() const;
  double recall() const;
  double f1() const;
};

// One class of each text or word.
class HEADLIGHT_API ClassScores {
 public:
  explicit ClassScores(std::size_t classes) : classes_(classes) {}

  // The right class, and the one that was found; negative: none.
  void Add(std::int32_t right, std::int32_t found);

  std::int64_t count() const { return count_; }
  double accuracy() const;  // 0 to 1
  double macro_f1() const;  // the mean F1 of the classes that are right or found somewhere
  const std::vector<ClassCounts>& classes() const { return classes_; }

 private:
  std::vector<ClassCounts> classes_;
  std::int64_t count_ = 0, right_ = 0;
};

}  // namespace headlight
