// A trie for looking up the prefixes of a text in a vocabulary, byte by byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace headlight {

/// A trie over bytes. Nodes are numbered by level, so the children of a node are consecutive: node n has the children
/// [first_child_[n], first_child_[n + 1]). Node 0 is the root.
class ByteTrie {
 public:
  ByteTrie() = default;
  /// Builds a trie of distinct pieces with their ids. At least one piece is required.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> pieces) {
    /// The sorted pieces [begin, end), whose first `depth` bytes are equal.
    struct Pieces {
      std::size_t begin, end, depth;
    };
    std::sort(pieces.begin(), pieces.end());
    std::vector<Pieces> nodes = {{0, pieces.size(), 0}};
    label_ = {0};
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      auto [begin, end, depth] = nodes[index];
      first_child_.push_back(static_cast<std::int32_t>(nodes.size()));
      const bool ends = pieces[begin].first.size() == depth;  // the shortest piece comes first in sorted order
      piece_.push_back(ends ? pieces[begin++].second : -1);
      while (begin < end) {
        const char byte = pieces[begin].first[depth];
        const std::size_t first = begin;
        while (begin < end && pieces[begin].first[depth] == byte) ++begin;
        nodes.push_back({first, begin, depth + 1});
        label_.push_back(static_cast<unsigned char>(byte));
      }
    }
    first_child_.push_back(static_cast<std::int32_t>(nodes.size()));
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      table_.push_back(-1);
      if (first_child_[node + 1] - first_child_[node] < kManyChildren) continue;
      table_.back() = static_cast<std::int32_t>(tables_.size());
      tables_.resize(tables_.size() + 256, -1);
      for (std::int32_t child = first_child_[node]; child < first_child_[node + 1]; ++child)
        tables_[static_cast<std::size_t>(table_.back() + label_[child])] = child;
    }
  }

  /// Builds a trie of texts. The id of a text is its index.
  template <typename Texts, typename TextOf = std::identity>
  static ByteTrie Of(const Texts& texts, TextOf text_of = {}) {
    std::vector<std::pair<std::string_view, std::int32_t>> pieces;
    for (const auto& text : texts)
      pieces.emplace_back(std::invoke(text_of, text), static_cast<std::int32_t>(pieces.size()));
    return ByteTrie(std::move(pieces));
  }

  /// Returns the child of a node for a byte, or -1 if there is none.
  std::int32_t Child(std::int32_t node, char byte) const {
    if (table_[node] >= 0) return tables_[table_[node] + static_cast<unsigned char>(byte)];
    const std::int32_t begin = first_child_[node];
    if (begin == first_child_[node + 1]) return -1;
    const void* found =
        std::memchr(label_.data() + begin, static_cast<unsigned char>(byte), first_child_[node + 1] - begin);
    return found == nullptr ? -1 : static_cast<std::int32_t>(static_cast<const unsigned char*>(found) - label_.data());
  }

  /// Returns the node of a prefix, or -1 if there is none.
  std::int32_t Find(std::string_view text) const {
    std::int32_t node = 0;
    for (std::size_t at = 0; at < text.size() && node >= 0; ++at) node = Child(node, text[at]);
    return node;
  }

  /// Returns the id of the piece that ends at a node, or -1 if there is none.
  std::int32_t piece(std::int32_t node) const { return piece_[node]; }

 private:
  // Nodes with at least this many children use a table, which is faster than a search.
  static constexpr std::int32_t kManyChildren = 8;

  std::vector<unsigned char> label_;  // by node, the byte of its incoming edge
  std::vector<std::int32_t> first_child_;
  std::vector<std::int32_t> piece_;
  std::vector<std::int32_t> table_;  // by node, the offset of its child table in `tables_`; -1: it has few children
  std::vector<std::int32_t> tables_;
};

}  // namespace headlight
