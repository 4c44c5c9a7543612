// The likeliest columns of rows of logits, for decoding. The logits come some columns at a time, and need not exist all
// at once.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// What is known of the columns seen so far.
template <typename T>
struct TopLogits {
  TopLogits(std::int64_t of_rows, std::int64_t count)
      : rows(of_rows),
        k(count),
        values(static_cast<std::size_t>(rows * k), -std::numeric_limits<T>::infinity()),
        columns(values.size()),
        max(static_cast<std::size_t>(rows), -std::numeric_limits<T>::infinity()),
        sum(max.size()) {}

  std::int64_t rows, k;
  std::vector<T> values;              // [rows, k]: the greatest, in descending order; -infinity where there are fewer
  std::vector<std::int32_t> columns;  // [rows, k]: theirs; of equals the lower column comes first
  std::vector<T> max, sum;            // [rows]: the greatest logit and the sum of exp(logit - max)
};

// Columns are added in multiples of this many, but for the last ones, so that the sums have the same bits however many
// come at a time.
inline constexpr std::int64_t kTopLogitsStep = 512;

// Adds the logits of columns first, first + 1, ... Those that are `never` to be among the greatest count in the sum,
// and become -infinity in `logits`.
template <typename T>
void AddColumns(Matrix<T> logits, std::int64_t first, std::span<const std::int32_t> never, TopLogits<T>& top);

// Makes the values logarithms of the softmax's probabilities: value - max - log(sum). All are NaN in a row with a logit
// that is NaN or +infinity.
template <typename T>
void ToLogProbabilities(TopLogits<T>& top);

}  // namespace headlight::kernels
