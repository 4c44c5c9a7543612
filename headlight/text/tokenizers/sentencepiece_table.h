// A hash table from 64-bit keys to integers, which is read-only after it is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headlight {

/// Returns the key of an adjacent pair of symbols.
inline std::uint64_t PairKey(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

class NumberTable {
 public:
  /// Inserts a key with its value. If the key is already in the table, its first value is kept.
  void Insert(std::uint64_t key, std::int32_t value) {
    if (2 * (size_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[IndexOf(key)];
    if (slot.value >= 0) return;
    slot = {key, value};
    ++size_;
  }

  /// Returns the value of a key, or -1 if it is not in the table.
  std::int32_t Find(std::uint64_t key) const { return slots_.empty() ? -1 : slots_[IndexOf(key)].value; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t value = -1;
  };

  /// Returns the key's slot, or the free slot for it, by linear probing in a table that is at most half full.
  std::size_t IndexOf(std::uint64_t key) const {
    const std::uint64_t mixed = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
    std::size_t index = (mixed ^ mixed >> 29) & (slots_.size() - 1);
    while (slots_[index].value >= 0 && slots_[index].key != key) index = (index + 1) & (slots_.size() - 1);
    return index;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value >= 0) slots_[IndexOf(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace headlight
