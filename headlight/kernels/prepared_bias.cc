#include "headlight/kernels/prepared_bias.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {

template <typename T>
void CheckBias(const AttentionInput<T>& input) {
  const AttentionBias<T>& bias = input.bias;
  if (bias.values.data == nullptr) return;
  const std::int64_t heads = bias.heads_first ? bias.values.rows : bias.values.columns, places = bias.entries();
  Check(heads == input.heads, "attention: a bias of {} heads instead of {}", heads, input.heads);
  Check(bias.d_values.data == nullptr ||
            (bias.d_values.rows == bias.values.rows && bias.d_values.columns == bias.values.columns),
        "attention: the bias's gradient is [{}, {}] instead of [{}, {}]", bias.d_values.rows, bias.d_values.columns,
        bias.values.rows, bias.values.columns);
  for (const std::int32_t position : bias.index)
    Check(position >= 0 && position < places, "attention: entry {} of a bias of {}", position, places);
  if (bias.by == BiasIndexing::distances) {
    Check(bias.index.size() % 2 == 1, "attention: an index of {} distances, which must be an odd number",
          bias.index.size());
    return;
  }
  if (bias.by == BiasIndexing::keys) {
    for (std::size_t sequence = 0; sequence < input.keys.size(); ++sequence)
      Check(input.keys[sequence].length <= places, "attention: sentence {} has {} keys, and the bias has {}", sequence,
            input.keys[sequence].length, places);
    return;
  }
  const std::int64_t pairs = bias.by == BiasIndexing::table ? std::ssize(bias.index) : places;
  Check(bias.begin.empty() || bias.begin.size() == input.queries.size(),
        "attention: a bias for {} sentences instead of {}", bias.begin.size(), input.queries.size());
  for (std::size_t sequence = 0; sequence < input.queries.size(); ++sequence) {
    const std::int64_t queries = input.queries[sequence].length, keys = input.keys[sequence].length;
    const std::int64_t first = bias.first_pair(static_cast<std::int32_t>(sequence));
    Check(first >= 0 && first <= pairs && queries * keys <= pairs - first,
          "attention: sentence {} has pairs {} to {} of a bias of {}", sequence, first, first + queries * keys, pairs);
    Check(!bias.begin.empty() || (queries == input.queries[0].length && keys == input.keys[0].length),
          "attention: sentence {} has {} queries and {} keys but shares a bias of {} and {}", sequence, queries, keys,
          input.queries[0].length, input.keys[0].length);
  }
}

template <typename T>
AttentionBias<T> PreparedBias(const AttentionBias<T>& bias, std::int32_t heads) {
  const bool distances = bias.by == BiasIndexing::distances;
  if (bias.values.data == nullptr || (bias.heads_first && !distances)) return bias;
  struct Table;
  const std::int64_t places = distances ? std::ssize(bias.index) : bias.entries();
  T* const table = KeptScratch<Table, T>(heads * places);
  ForRowChunks(heads, places, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t head = first; head < first + count; ++head) {
      for (std::int64_t at = 0; at < places; ++at) {
        const std::int64_t position = distances ? bias.index[static_cast<std::size_t>(at)] : at;
        table[head * places + at] =
            bias.heads_first ? bias.values.row(head)[position] : bias.values.row(position)[head];
      }
    }
  });
  AttentionBias<T> prepared = bias;
  prepared.values = {table, heads, places, places};
  prepared.heads_first = true;
  prepared.d_values = {};
  if (distances) prepared.index = {};
  return prepared;
}

template <typename T>
BiasGradientParts<T>::BiasGradientParts(const AttentionInput<T>& input, const AttentionBias<T>& given)
    : given_(given), rows_(input.bias.values.rows), columns_(input.bias.values.columns) {
  if (given.d_values.data == nullptr) return;
  if (given.by != BiasIndexing::pairs || !given.heads_first) {
    needed_ = true;
    return;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // per sequence: the first pair and the end of its pairs
  for (std::size_t sequence = 0; sequence < input.queries.size(); ++sequence) {
    const std::int64_t count = std::int64_t{input.queries[sequence].length} * input.keys[sequence].length;
    const std::int64_t first = given.first_pair(static_cast<std::int32_t>(sequence));
    if (count > 0) pairs.emplace_back(first, first + count);
  }
  std::ranges::sort(pairs);
  needed_ = std::ranges::adjacent_find(
                pairs, [](const auto& one, const auto& next) { return next.first < one.second; }) != pairs.end();
}

template <typename T>
std::int64_t BiasGradientParts<T>::Allocate(std::int64_t most) {
  struct Sums;
  constexpr std::int64_t most_elements = std::int64_t{1} << 22, most_parts = 16;
  parts_ = std::clamp<std::int64_t>(most_elements / std::max<std::int64_t>(1, rows_ * columns_), 1,
                                    std::clamp<std::int64_t>(most, 1, most_parts));
  sums_ = KeptScratch<Sums, T>(parts_ * rows_ * columns_);
  const auto zero = [&](std::int64_t part) { std::fill_n(Part(part).data, rows_ * columns_, T{0}); };
  ParallelFor(parts_, std::ref(zero));
  return parts_;
}

template <typename T>
void BiasGradientParts<T>::AddUp() const {
  const auto add = [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) {
        T sum = 0;
        for (std::int64_t part = 0; part < parts_; ++part) sum += Part(part).row(row)[column];
        const bool distances = given_.by == BiasIndexing::distances;
        const std::int64_t position = distances ? given_.index[static_cast<std::size_t>(column)] : column;
        (given_.heads_first ? given_.d_values.row(row)[position] : given_.d_values.row(position)[row]) += sum;
      }
    }
  };
  ForRowChunks(rows_, columns_ * parts_, add);
}

template void CheckBias(const AttentionInput<float>&);
template void CheckBias(const AttentionInput<double>&);
template AttentionBias<float> PreparedBias(const AttentionBias<float>&, std::int32_t);
template AttentionBias<double> PreparedBias(const AttentionBias<double>&, std::int32_t);
template class BiasGradientParts<float>;
template class BiasGradientParts<double>;

}  // namespace headlight::kernels
