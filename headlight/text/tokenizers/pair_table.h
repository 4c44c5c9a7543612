// A table of the ranks of id pairs, which is read-only after it is built. A pair needs eight bytes, at most a quarter
// of a NumberTable's memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headlight {

class PairTable {
 public:
  struct Pair {
    std::int32_t left, right;
  };

  PairTable() = default;
  /// The rank of a pair is its index in `pairs`. If a pair occurs twice, its first rank is kept. Ids are in [0, ids).
  PairTable(std::span<const Pair> pairs, std::size_t ids) : begin_(ids + 1), entries_(pairs.size()) {
    for (const Pair& pair : pairs) ++begin_[static_cast<std::size_t>(pair.left) + 1];
    for (std::size_t id = 0; id < ids; ++id) begin_[id + 1] += begin_[id];
    std::vector<std::uint32_t> next = begin_;
    for (std::size_t rank = 0; rank < pairs.size(); ++rank)
      entries_[next[static_cast<std::size_t>(pairs[rank].left)]++] = {pairs[rank].right,
                                                                      static_cast<std::int32_t>(rank)};
    for (std::size_t id = 0; id < ids; ++id)
      std::stable_sort(entries_.begin() + begin_[id], entries_.begin() + begin_[id + 1],
                       [](const Entry& a, const Entry& b) { return a.right < b.right; });
  }

  /// Returns the rank of a pair, or -1 if there is none. `left` must be in [0, ids).
  std::int32_t Find(std::int32_t left, std::int32_t right) const {
    if (entries_.empty()) return -1;
    const Entry *first = entries_.data() + begin_[static_cast<std::size_t>(left)],
                *end = entries_.data() + begin_[static_cast<std::size_t>(left) + 1];
    // Halves without a branch, since the results of comparisons are hard to predict.
    for (std::ptrdiff_t size = end - first; size > 1;) {
      const std::ptrdiff_t half = size / 2;
      first += first[half - 1].right < right ? half : 0;
      size -= half;
    }
    return first < end && first->right == right ? first->rank : -1;
  }

 private:
  struct Entry {
    std::int32_t right, rank;
  };

  std::vector<std::uint32_t> begin_;  // by left id, the index of its first entry
  std::vector<Entry> entries_;        // sorted by left id, right id and rank
};

}  // namespace headlight
