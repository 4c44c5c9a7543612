#include "headlight/pipelines/embedding.h"

#include <cmath>
#include <numeric>

#include "headlight/base/error.h"

namespace headlight {

const char* Name(Similarity similarity) {
  constexpr const char* names[] = {"cosine", "dot", "euclidean", "manhattan"};
  return names[static_cast<std::size_t>(similarity)];
}

double Compare(Similarity similarity, std::span<const float> a, std::span<const float> b) {
  Check(a.size() == b.size(), "vectors of {} and {} numbers cannot be compared", a.size(), b.size());
  const auto product = [](std::span<const float> x, std::span<const float> y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  const double both = product(a, b);
  if (similarity == Similarity::dot) return both;
  if (similarity == Similarity::cosine) {
    const double norms = std::sqrt(product(a, a) * product(b, b));
    return norms > 0 ? both / norms : 0;
  }
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += similarity == Similarity::euclidean ? difference * difference : std::abs(difference);
  }
  return similarity == Similarity::euclidean ? -std::sqrt(sum) : -sum;
}

}  // namespace headlight
