// Keeps the best of many rows, as a search needs.
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

/// The rows with the `top` largest scores; ties go to the first row. Rows with a score of NaN are ignored.
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

  /// Returns the rows, best first.
  std::vector<ScoredRow> Take() {
    std::ranges::sort(heap_, Better);
    return std::move(heap_);
  }

 private:
  static bool Better(const ScoredRow& a, const ScoredRow& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  }

  std::int64_t top_;
  std::vector<ScoredRow> heap_;  // a heap whose first element is the worst
};

}  // namespace headlight
