// A bias as the attention kernels read it, and the sums of its gradient.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/kernels/attention_input.h"

namespace headlight::kernels {

// Throws Error where the shapes of the bias do not fit.
template <typename T>
void CheckBias(const AttentionInput<T>& input);

// The bias as tiles read it: [heads, places], distances one after another instead of by an index; where it is not so
// already, in memory that the thread keeps until it prepares another.
template <typename T>
AttentionBias<T> PreparedBias(const AttentionBias<T>& bias, std::int32_t heads);

// The sums of a bias's gradient where sentences add to the same places or its layout is not that of the prepared bias:
// parts of the work add to sums of their own, which are then added up in order, so that the bits do not depend on the
// threads.
template <typename T>
class BiasGradientParts {
 public:
  // `input` with the prepared bias, and the bias as it was given.
  BiasGradientParts(const AttentionInput<T>& input, const AttentionBias<T>& given);
  bool needed() const { return needed_; }

  // Zeros for so many parts, at most `most` of them and 16, fewer where the bias is large; how many.
  std::int64_t Allocate(std::int64_t most);
  Matrix<T> Part(std::int64_t part) const { return {sums_ + part * rows_ * columns_, rows_, columns_, columns_}; }
  void AddUp() const;  // to the given d_values

 private:
  const AttentionBias<T>& given_;
  std::int64_t rows_, columns_;  // of the prepared bias
  bool needed_ = false;
  std::int64_t parts_ = 0;
  T* sums_ = nullptr;
};

}  // namespace headlight::kernels
