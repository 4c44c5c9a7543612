#include "headlight/pipelines/label_score.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "headlight/base/error.h"

namespace headlight {

std::vector<std::vector<LabelScore>> LabelScores(const Tensor& scores, std::span<const std::string> labels,
                                                 Problem problem, std::optional<std::int64_t> top_k) {
  Check(top_k.value_or(1) >= 1, "`top_k` must be at least 1, not {}", top_k.value_or(1));
  Check(scores.shape() == Shape{scores.rows(), std::ssize(labels)}, "scores of {} labels are not {} columns",
        labels.size(), scores.columns());
  std::vector<std::size_t> order(labels.size());
  const auto count = static_cast<std::ptrdiff_t>(std::min(top_k.value_or(std::ssize(labels)), std::ssize(labels)));
  std::vector<std::vector<LabelScore>> result;
  for (std::int64_t row = 0; row < scores.rows(); ++row) {
    const float* const of_row = scores.matrix<float>().row(row);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (problem != Problem::number || top_k)
      std::partial_sort(order.begin(), order.begin() + count, order.end(), [of_row](std::size_t a, std::size_t b) {
        return of_row[a] != of_row[b] ? of_row[a] > of_row[b] : a < b;
      });
    std::vector<LabelScore>& best = result.emplace_back();
    for (auto label = order.begin(); label != order.begin() + count; ++label)
      best.push_back({labels[*label], of_row[*label]});
  }
  return result;
}

}  // namespace headlight
