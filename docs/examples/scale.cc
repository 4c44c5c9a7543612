// Shows why attention scores are divided by the square root of head_dim.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/base/random.h"
#include "headlight/nn/attention.h"

using namespace headlight;

namespace {

constexpr std::int32_t kQueries = 1000, kKeys = 16;

Tensor NormalRows(Random& random, std::int64_t rows, std::int64_t columns) {
  const Tensor x = Tensor::Empty({rows, columns}, DType::float64);
  for (double& value : x.span<double>()) value = random.Normal();
  return x;
}

struct Sharpness {
  double variance = 0;  // variance of the scores
  double largest = 0;   // largest weight of a query, averaged over queries
  double slope = 0;     // derivative of the largest weight with respect to its score, w (1 - w), averaged over queries
};

void Add(Sharpness& sharpness, const Tensor& query, const Tensor& keys, double scale) {
  for (std::int64_t key = 0; key < kKeys; ++key) {
    const double* row = keys.matrix<double>().row(key);
    const double score = scale * std::inner_product(row, row + keys.columns(), query.data<double>(), 0.0);
    sharpness.variance += score * score / (kQueries * kKeys);  // the mean of the scores is 0
  }
  const ScaledDotProductAttention attention{.scale = scale};
  const Tensor weights = attention.Weights(query, keys, {{0, 1}}, {{0, kKeys}}, /*sentence=*/0);
  const double largest = std::ranges::max(weights.span<double>());
  sharpness.largest += largest / kQueries;
  sharpness.slope += largest * (1 - largest) / kQueries;
}

}  // namespace

int main() {
  fmt::print("{:10}{:>30}{:>38}\n", "", "without scale", "divided by sqrt(head_dim)");
  fmt::print("{0}{1:>14}{2:>10}{3:>8}{1:>18}{2:>10}{3:>8}\n", "head_dim", "variance", "largest", "slope");
  for (std::int64_t head_dim = 4; head_dim <= 512; head_dim *= 2) {
    Random random(/*seed=*/1);
    Sharpness plain, scaled;
    for (std::int32_t i = 0; i < kQueries; ++i) {
      const Tensor query = NormalRows(random, 1, head_dim), keys = NormalRows(random, kKeys, head_dim);
      Add(plain, query, keys, 1);
      Add(scaled, query, keys, 1 / std::sqrt(static_cast<double>(head_dim)));
    }
    fmt::print("{:8}{:14.0f}{:10.2f}{:8.2f}{:18.1f}{:10.2f}{:8.2f}\n", head_dim, plain.variance, plain.largest,
               plain.slope, scaled.variance, scaled.largest, scaled.slope);
  }
}
