#include "headlight/nn/relative_positions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kernels/attention.h"
#include "headlight/kernels/rows.h"

namespace headlight {

std::vector<std::int32_t> RelativeBuckets(const RelativePositionsConfig& config) {
  const auto [both_directions, buckets, max_distance] = config;
  Check(buckets >= 4 && max_distance > buckets / 2 && max_distance <= (1 << 16),
        "there must be at least 4 buckets of relative positions, and the distance from where on they are one must be "
        "more than half their number and at most {}; there are {}, and it is {}",
        1 << 16, buckets, max_distance);
  const std::int32_t of_direction = both_directions ? buckets / 2 : buckets, exact = of_direction / 2;
  std::vector<std::int32_t> result;
  for (std::int32_t distance = -max_distance; distance <= max_distance; ++distance) {
    const bool later = distance > 0;
    const std::int32_t far = both_directions ? std::abs(distance) : std::max(0, -distance);
    std::int32_t bucket = far;
    if (far >= exact) {  // in single precision, as it was learned
      const float share = std::log(static_cast<float>(far) / static_cast<float>(exact)) /
                          static_cast<float>(std::log(static_cast<double>(max_distance) / exact));
      bucket = std::min(exact + static_cast<std::int32_t>(share * static_cast<float>(of_direction - exact)),
                        of_direction - 1);
    }
    result.push_back(bucket + (both_directions && later ? of_direction : 0));
  }
  return result;
}

namespace {

// Adds to the score of a query and a key the number that the head has learned for the bucket of their distance.
template <typename T>
class RelativeBias : public kernels::AttentionBias<T> {
 public:
  // values and d_values [buckets, heads]
  RelativeBias(std::shared_ptr<const std::vector<std::int32_t>> buckets, const Tensor& values, Tensor d_values)
      : buckets_(std::move(buckets)),
        longest_(static_cast<std::int32_t>(buckets_->size() / 2)),
        d_values_(std::move(d_values)) {
    for (std::int64_t head = 0; head < values.columns(); ++head)
      for (const std::int32_t bucket : *buckets_) by_distance_.push_back(values.matrix<T>().row(bucket)[head]);
  }

  void Add(const kernels::ScoreTile& tile, Matrix<T> scores) const override {
    const T* const bias = by_distance_.data() + tile.head * (2 * longest_ + 1) + longest_;  // of distance 0
    for (std::int64_t i = 0; i < scores.rows; ++i) {
      T* const row = scores.row(i);
      const std::int64_t first = Distance(tile, i);
      const std::int64_t near = std::clamp<std::int64_t>(-longest_ - first, 0, scores.columns);
      const std::int64_t far = std::clamp<std::int64_t>(longest_ + 1 - first, near, scores.columns);
      for (std::int64_t j = 0; j < near; ++j) row[j] += bias[-longest_];
      for (std::int64_t j = near; j < far; ++j) row[j] += bias[first + j];
      for (std::int64_t j = far; j < scores.columns; ++j) row[j] += bias[longest_];
    }
  }

  bool has_gradient() const override { return !d_values_.empty(); }
  void AddGradient(const kernels::ScoreTile& tile, Matrix<const T> d_scores) override {
    // The tile's diagonals, each of one distance, then its buckets.
    const std::int64_t distances = d_scores.rows + d_scores.columns - 1, first = Distance(tile, d_scores.rows - 1);
    T* const sums = KeptScratch<RelativeBias, T>(distances);
    std::fill_n(sums, distances, T{0});
    for (std::int64_t i = 0; i < d_scores.rows; ++i) {
      T* const to = sums + d_scores.rows - 1 - i;
      for (std::int64_t j = 0; j < d_scores.columns; ++j) to[j] += d_scores.row(i)[j];
    }
    for (std::int64_t i = 0; i < distances; ++i) {
      const std::int64_t distance = std::clamp<std::int64_t>(first + i, -longest_, longest_);
      d_values_.matrix<T>().row((*buckets_)[static_cast<std::size_t>(distance + longest_)])[tile.head] += sums[i];
    }
  }

 private:
  // From the tile's query i to its first key.
  static std::int64_t Distance(const kernels::ScoreTile& tile, std::int64_t i) {
    return tile.key - (tile.query + i + tile.past);
  }

  std::shared_ptr<const std::vector<std::int32_t>> buckets_;
  std::int32_t longest_;
  std::vector<T> by_distance_;  // [heads, 2 * longest + 1]
  Tensor d_values_;
};

}  // namespace

RelativePositions::RelativePositions(const Scope& scope, const RelativePositionsConfig& config, std::int32_t heads,
                                     double deviation)
    : weight_(&scope.Declare("weight", {config.buckets, heads}, Initialisation::Normal(deviation))),
      buckets_(std::make_shared<const std::vector<std::int32_t>>(RelativeBuckets(config))) {}

ops::AttentionBias RelativePositions::operator()(Context& context) const {
  const auto make = [buckets = buckets_]<typename T>(T) {
    return [buckets](const Tensor& values, const Tensor& d_values) {
      return std::make_unique<RelativeBias<T>>(buckets, values, d_values);
    };
  };
  return {context.Use(*weight_), make(float{}), make(double{})};
}

}  // namespace headlight
