// A hash table from strings to integers, which is read-only after it is built. An entry needs about 25 bytes plus its
// text, a quarter of the memory of std::unordered_map<std::string, std::int32_t>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {

class WordTable {
 public:
  /// Inserts a text with its number. If the text is already in the table, its first number is kept. Returns the number
  /// in the table.
  std::int32_t Insert(std::string_view text, std::int32_t number) {
    if (4 * (entries_.size() + 1) > 3 * slots_.size()) Grow();
    std::int32_t& slot = slots_[SlotOf(text)];
    if (slot >= 0) return entries_[static_cast<std::size_t>(slot)].number;
    Check(texts_.size() + text.size() < UINT32_MAX, "the texts of a vocabulary have more than {} bytes", UINT32_MAX);
    slot = static_cast<std::int32_t>(entries_.size());
    texts_ += text;
    entries_.push_back({static_cast<std::uint32_t>(texts_.size()), number});
    return number;
  }

  /// Returns the number of a text, or -1 if it is not in the table.
  std::int32_t Find(std::string_view text) const {
    if (slots_.empty()) return -1;
    const std::int32_t slot = slots_[SlotOf(text)];
    return slot < 0 ? -1 : entries_[static_cast<std::size_t>(slot)].number;
  }

  /// Calls body(text, number) for each text, in the order of insertion.
  template <class Body>
  void ForEach(const Body& body) const {
    for (std::size_t entry = 0; entry < entries_.size(); ++entry)
      body(TextOf(static_cast<std::int32_t>(entry)), entries_[entry].number);
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t end;  // end offset in texts_
    std::int32_t number;
  };

  std::string_view TextOf(std::int32_t entry) const {
    const auto at = static_cast<std::size_t>(entry);
    const std::size_t begin = at == 0 ? 0 : entries_[at - 1].end;
    return std::string_view(texts_).substr(begin, entries_[at].end - begin);
  }

  // Returns the text's slot, or the free slot for it, by linear probing.
  std::size_t SlotOf(std::string_view text) const {
    std::size_t slot = std::hash<std::string_view>()(text) & (slots_.size() - 1);
    while (slots_[slot] >= 0 && TextOf(slots_[slot]) != text) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void Grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), -1);
    for (std::size_t entry = 0; entry < entries_.size(); ++entry)
      slots_[SlotOf(TextOf(static_cast<std::int32_t>(entry)))] = static_cast<std::int32_t>(entry);
  }

  std::string texts_;  // the concatenated texts of all entries
  std::vector<Entry> entries_;
  std::vector<std::int32_t> slots_;  // index of an entry; -1: free
};

}  // namespace headlight
