// Biases of attention's scaled scores: relative positions, pairs of residues, disentangled terms.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// Where a tile of scores lies: its first query and key, counted within their sentence.
struct ScoreTile {
  std::int32_t sentence = 0, head = 0;
  std::int32_t query = 0, key = 0;
};

// A bias that is computed tile by tile, for terms that are no place among some values: disentangled attention's.
template <typename T>
class ComputedBias {
 public:
  virtual ~ComputedBias() = default;

  // scores.row(i)[j] += the bias of query `tile.query + i` and key `tile.key + j`. Called from several threads at once.
  virtual void Add(const ScoreTile& tile, Matrix<T> scores) const = 0;

  // AttentionBackward hands AddGradient the gradient of what Add added, once for every tile in which a query sees a key
  // (0 where one does not). For one sentence and head the calls come one at a time in a fixed order, for others perhaps
  // at once from other threads.
  virtual bool has_gradient() const { return false; }
  virtual void AddGradient(const ScoreTile& /*tile*/, Matrix<const T> /*d_scores*/) {}
};

// How the bias of a query and a key is found. Pair p of query i and key j of sentence b is begin[b] + i * keys + j.
enum class BiasPlaces : std::uint8_t {
  pairs,      // place p
  table,      // place index[p]
  distances,  // place index[longest + d], d the distance from the query's position to the key, within -longest to
              // longest
};

template <typename T>
struct AttentionBias {
  Matrix<const T> values = {};  // [places, heads] or, with heads_first, [heads, places]; without data: no bias
  bool heads_first = false;
  BiasPlaces by = BiasPlaces::pairs;
  std::span<const std::int32_t> index = {};  // of places; by distance [2 * longest + 1]
  // The first pair of each sentence. Where it is empty, all sentences have equal lengths and share the pairs from 0 on,
  // as the windows of an image or the rows of an alignment do.
  std::span<const std::int64_t> begin = {};
  Matrix<T> d_values = {};  // as values: AttentionBackward adds the gradient to it; without data: not wanted

  ComputedBias<T>* computed = nullptr;  // added, too, where given

  bool empty() const { return values.data == nullptr && computed == nullptr; }
  std::int64_t places() const { return heads_first ? values.columns : values.rows; }
  std::int64_t first_pair(std::int32_t sentence) const {
    return begin.empty() ? 0 : begin[static_cast<std::size_t>(sentence)];
  }
};

}  // namespace headlight::kernels
