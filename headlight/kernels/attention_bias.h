// Biases of scaled attention scores, for example for relative positions, pairs of residues, or disentangled attention.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// The position of a tile of scores: its first query and its first key, relative to the start of their sequence.
struct ScoreTile {
  std::int32_t sequence = 0, head = 0;
  std::int32_t query = 0, key = 0;
};

/// A bias that is computed tile by tile instead of being stored, as in disentangled attention.
template <typename T>
class ComputedBias {
 public:
  virtual ~ComputedBias() = default;

  /// Adds the bias of query `tile.query + i` and key `tile.key + j` to scores.row(i)[j]. Called concurrently from
  /// several threads.
  virtual void Add(const ScoreTile& tile, Matrix<T> scores) const = 0;

  /// AttentionBackward passes the gradient of the added bias to AddGradient, once per tile with at least one visible
  /// pair. Masked pairs have gradient 0. Calls for the same sequence and head are sequential, in a fixed order. Other
  /// calls may be concurrent.
  virtual bool has_gradient() const { return false; }
  virtual void AddGradient(const ScoreTile& /*tile*/, Matrix<const T> /*d_scores*/) {}
};

/// Selects the bias entry of a query and a key. Query i and key j of sequence b are pair p = begin[b] + i * keys + j.
enum class BiasIndexing : std::uint8_t {
  pairs,      ///< entry p
  table,      ///< entry index[p]
  distances,  ///< entry index[longest + d], with d = key position - query position, clamped to [-longest, longest]
  keys,       ///< entry j, the same for all queries
};

template <typename T>
struct AttentionBias {
  Matrix<const T> values = {};  ///< [entries, heads] or, with heads_first, [heads, entries]; without data: no bias
  bool heads_first = false;
  BiasIndexing by = BiasIndexing::pairs;
  std::span<const std::int32_t> index =
      {};  ///< entry of `values` for each pair, or for each of 2 * longest + 1 distances
  /// The first pair of each sequence. If empty, all sequences have equal lengths and share the pairs starting at 0, for
  /// example the windows of an image or the rows of an alignment.
  std::span<const std::int64_t> begin = {};
  Matrix<T> d_values =
      {};  ///< the gradient of `values` is added to these elements; if there is no data, the gradient is not computed

  ComputedBias<T>* computed = nullptr;  ///< an additional bias, or null

  bool empty() const { return values.data == nullptr && computed == nullptr; }
  std::int64_t entries() const { return heads_first ? values.columns : values.rows; }
  std::int64_t first_pair(std::int32_t sequence) const {
    return begin.empty() ? 0 : begin[static_cast<std::size_t>(sequence)];
  }
};

}  // namespace headlight::kernels
