// One head of one sequence in the attention kernels: the location of its rows, and the keys that a query attends to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "headlight/kernels/attention_input.h"
#include "headlight/kernels/cpu.h"

namespace headlight::kernels {

/// The columns of one head, stored in consecutive rows, in rows selected by an index, or in the blocks of a cache.
template <typename T>
struct HeadRows {
  const T* data = nullptr;
  std::int64_t stride = 0;  ///< in elements; for blocks, the bytes of an entry
  const std::int32_t* index = nullptr;
  const std::byte* const* blocks = nullptr;
  std::int64_t first_byte = 0;  ///< offset of the head's entries in a block
  CacheType type = CacheType::unrounded;

  const std::byte* entry(std::int32_t position) const {
    const auto row = static_cast<std::uint32_t>(index[position]);
    return blocks[row / kBlockRows] + row % kBlockRows * stride + first_byte;
  }
  /// Returns the data of a row, which must not be in a rounded format.
  const T* row(std::int32_t position) const {
    if (blocks == nullptr) return data + (index ? index[position] : position) * stride;
    return reinterpret_cast<const T*>(entry(position));
  }
};

/// Tile sizes in queries and keys. On one AVX-512 core with a peak of 113 GFLOP/s, long sequences reach 80 to 90
/// GFLOP/s. This holds for tiles from 64 x 64 to 128 x 128 forward, and from 32 x 64 to 128 x 128 backward. With a
/// causal mask and 512 tokens, 64 x 64 reaches 70 GFLOP/s and 64 x 256 reaches 52.
constexpr std::int32_t kForwardQueries = 64, kForwardKeys = 64;
constexpr std::int32_t kBackwardQueries = 64, kBackwardKeys = 64;
/// In bfloat16, packing costs more relative to the products, so tiles are larger.
constexpr std::int32_t kRoundedBackwardQueries = 128, kRoundedBackwardKeys = 256;

/// The maximum number of queries for which keys and values are read unpacked, in float. Packing is faster for more
/// queries. The results have the same bits.
constexpr std::int32_t kFewQueries = 4;

template <typename T>
std::int32_t KeyHeads(const AttentionInput<T>& input) {
  return input.key_heads > 0 ? input.key_heads : input.heads;
}

/// Returns true if the sequence is computed in bfloat16.
template <typename T>
bool Rounds(const AttentionInput<T>& input, std::int32_t sequence) {
  return std::is_same_v<T, float> && input.compute != Compute::float32 && input.key_rows.empty() &&
         input.queries[static_cast<std::size_t>(sequence)].length >= kLeastRounded && CpuHasBfloat16();
}

/// One head of a sequence. The heads of a single query that have the same keys can be treated as one head with several
/// queries. The keys are then read once. `heads_together` is the number of these heads.
template <typename T>
struct AttentionHead {
  AttentionHead(const AttentionInput<T>& from, std::int32_t of_sequence, std::int32_t of_head,
                std::int32_t heads_together = 1)
      : input(from),
        sequence(of_sequence),
        head(of_head),
        together(heads_together),
        key_head(from.key_heads > 0 ? of_head / (from.heads / from.key_heads) : of_head),
        query_rows(from.queries[static_cast<std::size_t>(of_sequence)]),
        key_rows(from.keys[static_cast<std::size_t>(of_sequence)]),
        queries(query_rows.length * together),
        keys(key_rows.length),
        past(keys - query_rows.length),
        head_dim(static_cast<std::int32_t>(from.query.columns / from.heads)),
        value_dim(static_cast<std::int32_t>(from.value.columns / KeyHeads(from))),
        query(RowsOf(OfQueries(from.query, head_dim))),
        key(KeyedRowsOf(from.key, from.key_blocks, head_dim)),
        value(KeyedRowsOf(from.value, from.value_blocks, value_dim)),
        masked(from.mask != AttentionMask{}),
        gaps(from.mask.stride > 1 || from.mask.prefix > 0),
        dropout_seed(MixBits(from.dropout.seed + MixBits(static_cast<std::uint64_t>(of_sequence) * 0x10000 +
                                                         static_cast<std::uint64_t>(of_head) + 1))),
        dropout_threshold(DropoutThreshold(from.dropout.probability)) {}

  /// Returns the position of a query among the keys.
  std::int32_t Position(std::int32_t of_query) const { return past + (together > 1 ? 0 : of_query); }

  /// Returns the range of keys that any of `count` consecutive queries attends to.
  KeyRange Visible(std::int32_t first_query, std::int32_t count) const {
    const std::int32_t first = Position(first_query), last = Position(first_query + count - 1);
    const std::int32_t prefix = SeenPrefix(input.mask, last, keys);
    return {prefix > 0 ? 0 : VisibleKeys(input.mask, first, keys).begin,
            std::max(prefix, VisibleKeys(input.mask, last, keys).end)};
  }

  /// Returns this head's columns of a matrix with columns for all heads or key heads. The result has the rows of the
  /// sequence's queries or keys.
  template <typename U>
  Matrix<U> OfQueries(const Matrix<U>& matrix, std::int32_t dim) const {
    const Matrix<U> rows = Part(matrix, query_rows, head, dim);
    return together > 1 ? Matrix<U>{rows.data, together, dim, dim} : rows;
  }
  template <typename U>
  Matrix<U> OfKeys(const Matrix<U>& matrix, std::int32_t dim) const {
    return Part(matrix, key_rows, key_head, dim);
  }

  const AttentionInput<T>& input;
  std::int32_t sequence, head, together, key_head;
  Sequence query_rows, key_rows;
  std::int32_t queries, keys, past, head_dim, value_dim;
  HeadRows<T> query, key, value;
  bool masked;                 ///< if false, every query attends to every key
  bool gaps;                   ///< if true, the keys that a query attends to are not contiguous
  std::uint64_t dropout_seed;  ///< seed of a dropout mask with queries as rows and keys as columns
  std::uint32_t dropout_threshold;

 private:
  template <typename U>
  static Matrix<U> Part(const Matrix<U>& matrix, Sequence rows, std::int64_t index, std::int32_t dim) {
    if (matrix.data == nullptr) return {};  // the gradient is not needed
    return {matrix.row(rows.begin) + index * dim, rows.length, dim, matrix.stride * rows.step};
  }
  static HeadRows<T> RowsOf(const Matrix<const T>& matrix) { return {.data = matrix.data, .stride = matrix.stride}; }
  HeadRows<T> KeyedRowsOf(const Matrix<const T>& matrix, std::span<const std::byte* const> blocks,
                          std::int32_t dim) const {
    if (input.key_rows.empty()) return RowsOf(OfKeys(matrix, dim));
    HeadRows<T> rows = RowsOf(Part(matrix, {}, key_head, dim));
    rows.index = input.key_rows.data() + key_rows.begin;
    if (blocks.empty()) return rows;
    rows.stride = EntryBytes<T>(input.cache_type, dim);
    rows.blocks = blocks.data();
    rows.first_byte = EntryOffset(0, key_head, rows.stride);
    rows.type = input.cache_type;
    return rows;
  }
};

/// Throws Error if shapes or sequences do not fit.
template <typename T>
void CheckAttention(const AttentionInput<T>& input);

template <typename T>
std::int64_t OutputColumns(const AttentionInput<T>& input) {
  return input.value.columns / KeyHeads(input) * input.heads;
}

/// Returns the number of multiplications per pair of query and key, in all heads.
template <typename T>
std::int64_t ColumnsPerPair(const AttentionInput<T>& input) {
  return input.query.columns + OutputColumns(input);
}

/// Returns the number of floating-point operations of the scores and the weighted sums of values.
template <typename T>
double OperationsOf(const AttentionInput<T>& input) {
  double pairs = 0;  // visible pairs of query and key
  for (std::size_t sequence = 0; sequence < input.queries.size(); ++sequence)
    pairs += static_cast<double>(input.queries[sequence].length) * input.keys[sequence].length;
  return (input.mask.causal ? 1 : 2) * pairs * static_cast<double>(ColumnsPerPair(input));
}

/// Returns how many of `pairs` a thread processes at a time, so that the overhead of a tenth of a microsecond is
/// negligible. A pair consists of a head and a block of queries or a part of the backward pass. The result is 1 or a
/// multiple of `heads`, so that the same thread uses the data that it prefetched.
template <typename T>
std::int64_t PairsPerPiece(const AttentionInput<T>& input, std::int64_t pairs, std::int32_t heads) {
  constexpr std::int64_t enough = 100'000;  // number of multiplications that take a few microseconds
  std::int64_t scores = 1;
  for (std::size_t sequence = 0; sequence < input.queries.size(); ++sequence) {
    scores += std::int64_t{input.queries[sequence].length} * input.keys[sequence].length;
  }
  const std::int64_t multiplications = scores * ColumnsPerPair(input);
  const std::int64_t piece =
      std::clamp<std::int64_t>(enough * pairs / multiplications, 1, std::max<std::int64_t>(1, pairs / 64));
  return piece == 1 ? 1 : (piece + heads - 1) / heads * heads;
}

template <typename T>
struct BackwardArguments {
  const AttentionInput<T>& input;
  Matrix<const T> output, d_output;
  std::span<const T> log_sum_exp;
  GradientTo<T> d_query, d_key, d_value;
};

}  // namespace headlight::kernels
