// The k most probable columns of rows of logits, for decoding. Logits are passed in blocks of columns, so that the
// whole matrix of logits is not needed at once.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// The k largest logits of each row, and the sums of the softmax, over the columns added so far.
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
  std::vector<T> values;  ///< [rows, k]: the largest values, in descending order; -infinity if there are fewer
  std::vector<std::int32_t> columns;  ///< [rows, k]: their columns; ties go to the lower column
  std::vector<T> max, sum;            ///< [rows]: the maximum logit and the sum of exp(logit - max)
};

/// The granularity of blocks. All blocks except the last must have a multiple of this many columns, so that the sums
/// have the same bits for any block size.
inline constexpr std::int64_t kTopLogitsStep = 512;

/// Adds the logits of columns first, first + 1, ... Columns in `never` count in the sum but are not candidates. They
/// are set to -infinity in `logits`.
template <typename T>
void AddColumns(Matrix<T> logits, std::int64_t first, std::span<const std::int32_t> never, TopLogits<T>& top);

/// Replaces the values with log-probabilities: value - max - log(sum). The results are NaN in a row with a logit of NaN
/// or +infinity.
template <typename T>
void ToLogProbabilities(TopLogits<T>& top);

}  // namespace headlight::kernels
