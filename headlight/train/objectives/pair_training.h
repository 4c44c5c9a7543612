// Helpers shared by contrastive training on images with texts and on pairs of texts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/data/batches.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

inline constexpr std::int64_t kPairsCompared = 1000;  // number of pairs that a validation compares with each other
inline constexpr std::int64_t kPairsAtOnce = 64;      // number of pairs whose vectors are computed in one pass

inline void CheckPairOptions(const BatchOptions& batches, std::int64_t part) {
  Check(part >= 1, "parts must have at least 1 pair, not {}", part);
  Check(batches.batch_size >= 2, "a batch must have at least 2 pairs to compare, not {}", batches.batch_size);
}

/// Returns for each row of logits [rows, columns] the number of wrong columns whose logit is at least the row's largest
/// correct logit. The result is 0 if a correct column ranks first. Ties and NaN count as wrong.
template <typename Right>
std::vector<std::int64_t> RanksOf(const Tensor& logits, const Right& right) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(logits.rows()));
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    const float* const all = logits.matrix<float>().row(row);
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t column = 0; column < logits.columns(); ++column)
      if (right(row, column)) largest = std::max(largest, all[column]);
    for (std::int64_t column = 0; column < logits.columns(); ++column)
      ranks[static_cast<std::size_t>(row)] += !(all[column] < largest) && !right(row, column);
  }
  return ranks;
}

/// Collects the pairs' vectors from the blocks of a pass (train/shared_pass.h). Each block has the vectors of the first
/// elements of its pairs, followed by the vectors of the second elements. Returns the first and the second vectors,
/// [pairs, vector] each.
inline std::array<Tensor, 2> PairVectorsOf(const std::vector<std::vector<double>>& blocks, std::int64_t pairs) {
  std::array<Tensor, 2> vectors;
  for (const std::size_t side : {0, 1}) {
    std::vector<float> numbers;
    for (const std::vector<double>& block : blocks) {
      const std::size_t half = block.size() / 2;
      for (const double number : std::span(block).subspan(side * half, half))
        numbers.push_back(static_cast<float>(number));
    }
    vectors[side] = Tensor::From<float>(numbers, {pairs, std::ssize(numbers) / pairs});
  }
  return vectors;
}

}  // namespace headlight
