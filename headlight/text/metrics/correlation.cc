#include "headlight/text/metrics/correlation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {
namespace {

double MeanOf(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

std::vector<double> RanksOf(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return numbers[i]; });
  std::vector<double> ranks(numbers.size());
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size() && numbers[order[end]] == numbers[order[begin]];) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return ranks;
}

}  // namespace

double PearsonCorrelation(std::span<const double> x, std::span<const double> y) {
  Ensure(x.size() == y.size(), "correlation of {} numbers with {}", x.size(), y.size());
  const auto constant = [](std::span<const double> numbers) {
    return std::ranges::all_of(numbers, [&](double number) { return number == numbers.front(); });
  };
  if (constant(x) || constant(y)) return 0;  // rounding could otherwise make the sum of squares positive
  const double mean_x = MeanOf(x), mean_y = MeanOf(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (!(xx > 0 && yy > 0)) return 0;
  return std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
}

double SpearmanCorrelation(std::span<const double> x, std::span<const double> y) {
  return PearsonCorrelation(RanksOf(x), RanksOf(y));
}

}  // namespace headlight
