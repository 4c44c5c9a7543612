// Keeps the best of many rows during a search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace headlight {

struct ScoredRow {
  std::int64_t row = 0;
  float score = 0;
};

/// Collects the rows with the `top` largest scores. If scores are equal, the smaller row number ranks
/// higher. Rows with a score of NaN are ignored.
class BestRows {
 public:
  explicit BestRows(std::int64_t top) : top_(top) {}

  void Add(const ScoredRow& one) {
    if (std::isnan(one.score) || (std::ssize(heap_) == top_ && !Better(one, heap_.front()))) return;
    if (std::ssize(heap_) == top_) {
      std::ranges::pop_heap(heap_, Better);
      heap_.pop_back();
    }
    heap_.push_back(one);
    std::ranges::push_heap(heap_, Better);
  }

  /// Returns the rows in descending order of their scores.
  std::vector<ScoredRow> Take() {
    std::ranges::sort(heap_, Better);
    return std::move(heap_);
  }

 private:
  static bool Better(const ScoredRow& a, const ScoredRow& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  }

  std::int64_t top_;
  std::vector<ScoredRow> heap_;  // a heap with the worst row as its first element
};

}  // namespace headlight
