// Converts a bias to the format of the attention kernels, and sums its gradient.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/kernels/attention_input.h"

namespace headlight::kernels {

/// Throws Error if the shapes of the bias do not fit.
template <typename T>
void CheckBias(const AttentionInput<T>& input);

/// Converts the bias to the format of tiles: [heads, entries], with one entry per distance instead of an index. A
/// converted bias is in memory that is valid until the thread's next call.
template <typename T>
AttentionBias<T> PreparedBias(const AttentionBias<T>& bias, std::int32_t heads);

/// Sums a bias's gradient if several sequences add to the same entries, or if its layout is not the prepared layout.
/// Parts of the work add to separate sums. The separate sums are then added in order, so that the bits do not depend on
/// the number of threads.
template <typename T>
class BiasGradientParts {
 public:
  /// `input` has the prepared bias, `given` is the original bias.
  BiasGradientParts(const AttentionInput<T>& input, const AttentionBias<T>& given);
  bool needed() const { return needed_; }

  /// Allocates zeros for at most `most` parts, but not more than 16, and fewer if the bias is large. Returns the number
  /// of parts.
  std::int64_t Allocate(std::int64_t most);
  Matrix<T> Part(std::int64_t part) const { return {sums_ + part * rows_ * columns_, rows_, columns_, columns_}; }
  void AddUp() const;  ///< adds the sums to the original d_values

 private:
  const AttentionBias<T>& given_;
  std::int64_t rows_, columns_;  // rows and columns of the prepared bias
  bool needed_ = false;
  std::int64_t parts_ = 0;
  T* sums_ = nullptr;
};

}  // namespace headlight::kernels
