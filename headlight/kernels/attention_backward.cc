#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/attention_backward.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/attention.h"
#include "headlight/kernels/attention_parts.h"
#include "headlight/kernels/attention_tile-inl.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/prepared_bias.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
using kernels::BackwardPart;
using kernels::kBackwardKeys;
using kernels::kBackwardQueries;

// Writes scale * sums to `to`, or adds scale * sums if `to.add` is true.
template <typename T>
void Give(const Packed<T>& sums, T scale, const GradientTo<T>& to) {
  for (std::int32_t i = 0; i < to.to.rows; ++i)
    StoreScaled(sums.row(i), scale, static_cast<std::int32_t>(to.to.columns), to.add, to.to.row(i));
}

// Computes the products of one tile in the backward pass. Keys are packed once for all tiles of queries.
template <typename T>
class Tiles {
 public:
  static constexpr std::int32_t kQueries = kBackwardQueries, kKeys = kBackwardKeys;

  Tiles(const AttentionHead<T>& head, const Matrix<const T>& d_output)
      : head_(head),
        d_output_(d_output),
        query_columns_(WholeVectors<T>(head.head_dim)),
        value_columns_(WholeVectors<T>(head.value_dim)) {}

  static std::int64_t Size(const AttentionHead<T>& head) {
    using S = Scratch<T>;
    return S::Size(head.head_dim, kKeys) + S::Size(head.value_dim, kKeys) + S::Size(kKeys, head.head_dim) +
           S::Size(kQueries, head.head_dim) + S::Size(kQueries, head.value_dim);
  }
  void Take(std::int32_t queries, std::int32_t keys, Scratch<T>& scratch) {
    keys_transposed_ = scratch.Take(head_.head_dim, keys);
    values_transposed_ = scratch.Take(head_.value_dim, keys);
    keys_ = scratch.Take(keys, head_.head_dim);
    queries_ = scratch.Take(queries, head_.head_dim);
    d_outputs_ = scratch.Take(queries, head_.value_dim);
  }

  static std::int32_t Columns(std::int32_t keys) { return WholeVectors<T>(keys); }

  void PackKeys(std::int32_t first, std::int32_t count) {
    packed_columns_ = Columns(count);
    PackTransposed(head_.key, first, count, head_.head_dim, keys_transposed_.data, packed_columns_);
    PackTransposed(head_.value, first, count, head_.value_dim, values_transposed_.data, packed_columns_);
    PackRows(head_.key, first, count, head_.head_dim, keys_.data, keys_.stride);
  }

  // Computes scores = Q K^T and d_weights = d_output V^T, for the first `columns` keys.
  void Scores(const TileRange& tile, std::int32_t columns, const Packed<T>& scores, const Packed<T>& d_weights) {
    Product<false, T>({head_.query.row(tile.query), head_.query.stride, keys_transposed_.data, packed_columns_,
                       scores.data, scores.stride, head_.head_dim, false},
                      tile.queries, columns);
    Product<false, T>({d_output_.row(tile.query), d_output_.stride, values_transposed_.data, packed_columns_,
                       d_weights.data, d_weights.stride, head_.value_dim, false},
                      tile.queries, columns);
  }

  // The next functions compute d_values += weights^T d_output, d_keys += d_scores^T Q and d_queries += d_scores K.
  void AddToValues(const TileRange& tile, const Packed<T>& weights, const Packed<T>& d_values) {
    PackRows(d_output_, tile.query, tile.queries, head_.value_dim, d_outputs_.data, d_outputs_.stride);
    Product<true, T>(Of(weights, d_outputs_, d_values, tile.queries), tile.keys, value_columns_);
  }
  void AddToKeys(const TileRange& tile, const Packed<T>& d_scores, const Packed<T>& d_keys) {
    PackRows(head_.query, tile.query, tile.queries, head_.head_dim, queries_.data, queries_.stride);
    Product<true, T>(Of(d_scores, queries_, d_keys, tile.queries), tile.keys, query_columns_);
  }
  void AddToQueries(const TileRange& tile, const Packed<T>& d_scores, const Packed<T>& d_queries) {
    Product<false, T>(Of(d_scores, keys_, d_queries, tile.keys), tile.queries, query_columns_);
  }

 private:
  // Returns the description of the product `to += a * b` with inner dimension `inner`.
  static TileProduct<T> Of(const Packed<T>& a, const Packed<T>& b, const Packed<T>& to, std::int32_t inner) {
    return {a.data, a.stride, b.data, b.stride, to.data, to.stride, inner, true};
  }

  const AttentionHead<T>& head_;
  const Matrix<const T>& d_output_;
  std::int32_t query_columns_, value_columns_, packed_columns_ = 0;
  Packed<T> keys_transposed_, values_transposed_, keys_, queries_, d_outputs_;
};

// Computes the products of one tile in bfloat16. All operands are rounded.
class RoundedTiles {
 public:
  static constexpr std::int32_t kQueries = kernels::kRoundedBackwardQueries, kKeys = kernels::kRoundedBackwardKeys;

  RoundedTiles(const AttentionHead<float>& head, const Matrix<const float>& d_output)
      : head_(head), d_output_(d_output) {}

  static std::int64_t Size(const AttentionHead<float>&) { return 0; }
  void Take(std::int32_t queries, std::int32_t keys, Scratch<float>&) {
    const std::int64_t query_depth = Whole(queries), key_depth = Whole(keys);
    const std::int64_t panels = (keys + kPanel - 1) / kPanel;
    const std::int64_t head_panels = (head_.head_dim + kPanel - 1) / kPanel;
    const std::int64_t value_panels = (head_.value_dim + kPanel - 1) / kPanel;
    key_panel_ = kernels::Bfloat16Pairs(head_.head_dim) * kernels::kBfloat16Pair;
    value_panel_ = kernels::Bfloat16Pairs(head_.value_dim) * kernels::kBfloat16Pair;
    key_rows_panel_ = key_depth * kPanel;
    struct Rounded;
    auto* next = KeptScratch<Rounded, std::uint16_t>(
        panels * (key_panel_ + value_panel_) + head_panels * key_rows_panel_ +
        std::max(head_panels, value_panels) * query_depth * kPanel +
        query_depth * std::max<std::int64_t>(std::max(head_.head_dim, head_.value_dim) + 1, key_depth));
    const auto take = [&](std::int64_t numbers) { return std::exchange(next, next + numbers); };
    keys_transposed_ = take(panels * key_panel_);
    values_transposed_ = take(panels * value_panel_);
    keys_ = take(head_panels * key_rows_panel_);
    right_ = take(std::max(head_panels, value_panels) * query_depth * kPanel);
    left_ = next;
  }

  static std::int32_t Columns(std::int32_t keys) { return Whole(keys); }

  void PackKeys(std::int32_t first, std::int32_t count) {
    for (std::int32_t key = 0; key < count; key += kPanel) {
      const std::int32_t rows = std::min(kPanel, count - key);
      kernels::PackBfloat16Panel({head_.key.row(first + key), rows, head_.head_dim, head_.key.stride},
                                 /*transposed=*/true, keys_transposed_ + key / kPanel * key_panel_);
      kernels::PackBfloat16Panel({head_.value.row(first + key), rows, head_.value_dim, head_.value.stride},
                                 /*transposed=*/true, values_transposed_ + key / kPanel * value_panel_);
    }
    PackRight({head_.key.row(first), count, head_.head_dim, head_.key.stride}, keys_);
    packed_depth_ = Whole(count);
  }

  void Scores(const TileRange& tile, std::int32_t columns, const Packed<float>& scores,
              const Packed<float>& d_weights) {
    const auto product = [&](const Matrix<const float>& rows, const std::uint16_t* panels, const Packed<float>& to) {
      const std::int64_t pairs = kernels::Bfloat16Pairs(rows.columns);
      kernels::RoundRows(rows, left_);
      kernels::Bfloat16Product({left_, 2 * pairs, 2, pairs}, panels, {to.data, rows.rows, columns, to.stride}, {},
                               nullptr);
    };
    product(OfQueries(tile), keys_transposed_, scores);
    product(d_output_.Rows(tile.query, tile.queries), values_transposed_, d_weights);
  }

  void AddToValues(const TileRange& tile, const Packed<float>& weights, const Packed<float>& d_values) {
    AddTransposed(tile, weights, d_output_.Rows(tile.query, tile.queries), d_values);
  }
  void AddToKeys(const TileRange& tile, const Packed<float>& d_scores, const Packed<float>& d_keys) {
    AddTransposed(tile, d_scores, OfQueries(tile), d_keys);
  }
  void AddToQueries(const TileRange& tile, const Packed<float>& d_scores, const Packed<float>& d_queries) {
    const std::int32_t depth = Whole(tile.keys);
    kernels::RoundRows({d_scores.data, tile.queries, depth, d_scores.stride}, left_);
    Add({left_, depth, 2, depth / 2}, keys_, packed_depth_,
        {d_queries.data, tile.queries, head_.head_dim, d_queries.stride});
  }

 private:
  static constexpr std::int32_t kPanel = kernels::kPanelColumns, kStep = 32;  // step of the zero-padded depth
  static std::int32_t Whole(std::int32_t depth) { return (depth + kStep - 1) / kStep * kStep; }

  Matrix<const float> OfQueries(const TileRange& tile) const {
    return {head_.query.row(tile.query), tile.queries, head_.head_dim, head_.query.stride};
  }

  // Packs the panels of a right-hand side. Its rows become the depth, padded to whole steps.
  static void PackRight(const Matrix<const float>& rows, std::uint16_t* to) {
    const std::int64_t depth = Whole(static_cast<std::int32_t>(rows.rows));
    for (std::int64_t column = 0; column < rows.columns; column += kPanel, to += depth * kPanel) {
      kernels::PackBfloat16Panel(rows.Columns(column, std::min<std::int64_t>(kPanel, rows.columns - column)),
                                 /*transposed=*/false, to);
      std::fill(to + kernels::Bfloat16Pairs(rows.rows) * kernels::kBfloat16Pair, to + depth * kPanel, std::uint16_t{0});
    }
  }
  // Computes sums += left * panels, with this depth.
  static void Add(const kernels::Bfloat16Rows& left, const std::uint16_t* panels, std::int64_t depth,
                  const Matrix<float>& sums) {
    for (std::int64_t column = 0; column < sums.columns; column += kPanel, panels += depth * kPanel) {
      const Matrix<float> to = sums.Columns(column, std::min<std::int64_t>(kPanel, sums.columns - column));
      kernels::Bfloat16Product(left, panels, to, {.added = to}, nullptr);
    }
  }
  // Computes sums [keys, columns] += by_query [queries, keys]^T * rows [queries, columns].
  void AddTransposed(const TileRange& tile, const Packed<float>& by_query, const Matrix<const float>& rows,
                     const Packed<float>& sums) {
    const std::int32_t depth = Whole(tile.queries);
    PackRight(rows, right_);
    kernels::RoundTransposed({by_query.data, tile.queries, tile.keys, by_query.stride}, left_);
    Add({left_, depth, 2, depth / 2}, right_, depth, {sums.data, tile.keys, rows.columns, sums.stride});
  }

  const AttentionHead<float>& head_;
  const Matrix<const float>& d_output_;
  std::int64_t key_panel_ = 0, value_panel_ = 0, key_rows_panel_ = 0, packed_depth_ = 0;  // in elements; depth in rows
  // The packed keys and values, and the two operands that are packed again for each product.
  std::uint16_t *keys_transposed_ = nullptr, *values_transposed_ = nullptr, *keys_ = nullptr, *right_ = nullptr,
                *left_ = nullptr;
};

// The backward pass of one head. Tiles are recomputed from the results of the forward pass. With weights P and dropout
// D (Dao et al., "FlashAttention", 2022, algorithm 4):
//   d_value = (P D)^T d_output,  d_weights = D (d_output V^T),  d_scores = P (d_weights - delta),
//   d_query = scale d_scores K,  d_key = scale d_scores^T Q,    delta = the row sums of output * d_output.
// With a soft cap, d_scores is first multiplied by the derivative of the cap, 1 - tanh(scale score / cap)^2.
template <typename T, class Products>
class BackwardHead {
 public:
  BackwardHead(const kernels::BackwardArguments<T>& arguments, std::int32_t sequence, std::int32_t head_index)
      : arguments_(arguments),
        head_(arguments.input, sequence, head_index),
        output_(head_.OfQueries(arguments.output, head_.value_dim)),
        d_output_(head_.OfQueries(arguments.d_output, head_.value_dim)),
        d_query_{head_.OfQueries(arguments.d_query.to, head_.head_dim), arguments.d_query.add},
        d_key_{head_.OfKeys(arguments.d_key.to, head_.head_dim), arguments.d_key.add},
        d_value_{head_.OfKeys(arguments.d_value.to, head_.value_dim), arguments.d_value.add},
        products_(head_, d_output_) {}

  // Computes d_key and d_value of at most kBackwardKeys keys, starting at first_key.
  void KeyBlock(std::int32_t first_key) { AddKeyBlock(first_key, kBackwardKeys, {}, Scratch<T>(KeyBlockSize())); }

  // Computes d_query of at most kBackwardQueries queries, starting at first_query.
  void QueryBlock(std::int32_t first_query) {
    const std::int32_t count = std::min(kBackwardQueries, head_.queries - first_query);
    Scratch<T> scratch(TileSize() + Scratch<T>::Size(count, head_.head_dim));
    const Packed<T> sums = scratch.Take(count, head_.head_dim);
    TakeTile(std::min(kKeys, head_.keys), scratch);
    std::fill(sums.data, sums.row(count), T{0});
    for (std::int32_t key = 0; key < head_.keys; key += kKeys) {
      const TileRange tile{first_query, count, key, std::min(kKeys, head_.keys - key)};
      if (IsFullyMasked(head_, tile)) continue;
      PackKeys(key, tile.keys);
      Recompute(tile);
      PassCap(tile);
      products_.AddToQueries(tile, d_scores_, sums);
    }
    WriteQueryGradients(sums, first_query, count);
  }

  // Computes all three gradients in one pass over the tiles.
  void Everything() {
    Scratch<T> scratch(Scratch<T>::Size(head_.queries, head_.head_dim) + KeyBlockSize());
    Packed<T> sums;
    if (d_query_.wanted()) {
      sums = scratch.Take(head_.queries, head_.head_dim);
      std::fill(sums.data, sums.row(head_.queries), T{0});
    }
    for (std::int32_t key = 0; key < head_.keys; key += kKeys) AddKeyBlock(key, kKeys, sums, scratch);
    WriteQueryGradients(sums, 0, head_.queries);
  }

 private:
  static constexpr std::int32_t kQueries = Products::kQueries, kKeys = Products::kKeys;

  // Computes d_key and d_value of at most `most` keys, starting at first_key. If d_query_sums [queries, head_dim] has
  // data, also adds the contribution of these keys to it.
  void AddKeyBlock(std::int32_t first_key, std::int32_t most, const Packed<T>& d_query_sums, Scratch<T> scratch) {
    const std::int32_t count = std::min(most, head_.keys - first_key);
    TakeTile(count, scratch);
    const Packed<T> d_keys = scratch.Take(count, head_.head_dim), d_values = scratch.Take(count, head_.value_dim);
    std::fill(d_keys.data, d_keys.row(count), T{0});
    std::fill(d_values.data, d_values.row(count), T{0});
    PackKeys(first_key, count);
    for (std::int32_t query = 0; query < head_.queries; query += kQueries) {
      const std::int32_t queries = std::min(kQueries, head_.queries - query);
      const std::int32_t seen = std::min(count, head_.Visible(query, queries).end - first_key);
      const TileRange tile{query, queries, first_key, seen};
      if (seen <= 0 || !Recompute(tile)) continue;
      AddToBias(tile);
      PassCap(tile);
      if (d_value_.wanted()) products_.AddToValues(tile, weights_, d_values);
      if (d_key_.wanted()) products_.AddToKeys(tile, d_scores_, d_keys);
      if (d_query_sums.data != nullptr)
        products_.AddToQueries(tile, d_scores_, {d_query_sums.row(query), d_query_sums.stride});
    }
    if (d_key_.wanted()) Give(d_keys, head_.input.scale, {d_key_.to.Rows(first_key, count), d_key_.add});
    if (d_value_.wanted()) Give(d_values, KeepScale(), {d_value_.to.Rows(first_key, count), d_value_.add});
  }

  std::int64_t TileSize() const {
    return (head_.input.score_cap > 0 ? 3 : 2) * Scratch<T>::Size(kQueries, kKeys) + Products::Size(head_);
  }
  std::int64_t KeyBlockSize() const {
    using S = Scratch<T>;
    return TileSize() + S::Size(kKeys, head_.head_dim) + S::Size(kKeys, head_.value_dim);
  }
  void TakeTile(std::int32_t keys, Scratch<T>& scratch) {
    const std::int32_t queries = std::min(kQueries, head_.queries);
    weights_ = scratch.Take(queries, Products::Columns(keys));
    d_scores_ = scratch.Take(queries, Products::Columns(keys));
    if (head_.input.score_cap > 0) slopes_ = scratch.Take(queries, Products::Columns(keys));
    products_.Take(queries, keys, scratch);
  }

  void PackKeys(std::int32_t first, std::int32_t count) {
    for (std::int32_t j = first; j < first + count; ++j) PrefetchNextHead(head_.value.row(j), head_.value_dim);
    PrefetchNextRows(head_.key, first, count, head_.head_dim);
    PrefetchNextRows(head_.value, first, count, head_.value_dim);
    products_.PackKeys(first, count);
  }

  // Computes weights_ and d_scores_ of the tile, whose keys are already packed. Returns false if no query of the tile
  // attends to a key of the tile.
  bool Recompute(const TileRange& tile) {
    if (IsFullyMasked(head_, tile)) return false;
    for (std::int32_t i = 0; i < tile.queries; ++i) PrefetchNextHead(output_.row(tile.query + i), head_.value_dim);
    PrefetchNextRows(head_.query, tile.query, tile.queries, head_.head_dim);
    PrefetchNextRows<T>({output_.data, output_.stride}, tile.query, tile.queries, head_.value_dim);
    PrefetchNextRows<T>({d_output_.data, d_output_.stride}, tile.query, tile.queries, head_.value_dim);
    const std::int32_t columns = Products::Columns(tile.keys);
    products_.Scores(tile, columns, weights_, d_scores_);
    const T scale = CapAndAddBias(head_, tile, weights_, slopes_);
    for (std::int32_t i = 0; i < tile.queries; ++i) {
      const std::int32_t query = tile.query + i;
      const T delta = DotOf(output_.row(query), d_output_.row(query), head_.value_dim);
      const std::int64_t row = std::int64_t{head_.query_rows.row(query)} * head_.input.heads + head_.head;
      SoftmaxRowGradient(weights_.row(i), d_scores_.row(i), columns, SeenIn(head_, query, tile), scale,
                         DropoutOf(head_, query, tile.key), KeepScale(),
                         arguments_.log_sum_exp[static_cast<std::size_t>(row)], delta);
    }
    return true;
  }

  void AddToBias(const TileRange& tile) {
    const AttentionBias<T>& bias = head_.input.bias;
    const Matrix<T> d_scores{d_scores_.data, tile.queries, tile.keys, d_scores_.stride};
    if (bias.d_values.data != nullptr) AddBiasGradient(head_, tile.query, tile.key, d_scores);
    if (bias.computed != nullptr && bias.computed->has_gradient())
      bias.computed->AddGradient({head_.sequence, head_.head, tile.query, tile.key}, d_scores);
  }

  // Multiplies d_scores_ by the derivative of the cap, which gives the gradient of scale * score. Columns beyond the
  // tile's keys stay 0.
  void PassCap(const TileRange& tile) {
    for (std::int32_t i = 0; i < tile.queries && slopes_.data != nullptr; ++i)
      MultiplyRow(slopes_.row(i), tile.keys, d_scores_.row(i));
  }

  void WriteQueryGradients(const Packed<T>& sums, std::int32_t first, std::int32_t count) {
    if (d_query_.wanted()) Give(sums, head_.input.scale, {d_query_.to.Rows(first, count), d_query_.add});
  }

  T KeepScale() const { return static_cast<T>(1 / (1 - head_.input.dropout.probability)); }

  const kernels::BackwardArguments<T>& arguments_;
  AttentionHead<T> head_;
  Matrix<const T> output_, d_output_;  // columns of this head
  GradientTo<T> d_query_, d_key_, d_value_;
  Products products_;
  Packed<T> weights_, d_scores_;  // weights after dropout, and the gradient of the scores, for one tile
  Packed<T> slopes_;              // derivatives of the cap, if scores are capped
};

template <class Head, typename T>
void ComputePart(const kernels::BackwardArguments<T>& arguments, const BackwardPart& part, std::int32_t sequence,
                 std::int32_t head_index) {
  Head head(arguments, sequence, head_index);
  if (part.kind == BackwardPart::whole) head.Everything();
  if (part.kind == BackwardPart::keys) head.KeyBlock(part.tile);
  if (part.kind == BackwardPart::queries) head.QueryBlock(part.tile);
}

template <typename T>
void BackwardOf(const kernels::BackwardArguments<T>& arguments, const BackwardPart& part, std::int32_t sequence,
                std::int32_t head_index) {
  if constexpr (std::is_same_v<T, float>)
    if (kernels::Rounds(arguments.input, sequence))
      return ComputePart<BackwardHead<T, RoundedTiles>>(arguments, part, sequence, head_index);
  ComputePart<BackwardHead<T, Tiles<T>>>(arguments, part, sequence, head_index);
}
HEADLIGHT_KERNEL(BackwardOf);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(BackwardOf);

namespace {

// Zeroes the rows of a gradient that are not overwritten. These are the rows outside all sequences, or all rows if
// several sequences add to the same rows.
template <typename T>
void Zero(GradientTo<T>& gradient, std::span<const Sequence> sequences, bool shared) {
  if (gradient.add || !gradient.wanted()) return;
  thread_local std::vector<char> named;
  named.assign(static_cast<std::size_t>(gradient.to.rows), 0);
  for (const Sequence& rows : sequences)
    for (std::int32_t i = 0; i < rows.length; ++i) named[static_cast<std::size_t>(rows.row(i))] = 1;
  for (std::int64_t row = 0; row < gradient.to.rows; ++row)
    if (shared || named[static_cast<std::size_t>(row)] == 0)
      std::fill_n(gradient.to.row(row), gradient.to.columns, T{0});
  gradient.add = shared;
}

template <typename T>
void Compute(const BackwardPart& part, std::span<const std::int32_t> order, std::int32_t key_head,
             BackwardArguments<T> arguments) {
  const std::int32_t group = arguments.input.heads / KeyHeads(arguments.input);
  for (std::int32_t head = key_head * group; head < (key_head + 1) * group; ++head) {
    for (std::size_t index = part.first; index < part.last; ++index)
      HEADLIGHT_DISPATCH(BackwardOf, T)(arguments, part, order[index], head);
    arguments.d_key.add = arguments.d_value.add = true;  // the group's other query heads add to these gradients
  }
}

}  // namespace

template <typename T>
void AttentionBackward(const AttentionInput<T>& given, Matrix<const T> output, Matrix<const T> d_output,
                       std::span<const T> log_sum_exp, GradientTo<T> d_query, GradientTo<T> d_key,
                       GradientTo<T> d_value) {
  CheckAttention(given);
  AttentionInput<T> input = given;
  input.bias = PreparedBias(given.bias, given.heads);
  Check(input.key_rows.empty(), "attention: indexed keys have no gradient");
  const auto check = [](const char* what, const auto& matrix, std::int64_t rows, std::int64_t columns) {
    Check(matrix.rows == rows && matrix.columns == columns, "attention: {} is [{}, {}] instead of [{}, {}]", what,
          matrix.rows, matrix.columns, rows, columns);
  };
  check("the output", output, input.query.rows, OutputColumns(input));
  check("the output's gradient", d_output, input.query.rows, OutputColumns(input));
  if (d_query.wanted()) check("the queries' gradient", d_query.to, input.query.rows, input.query.columns);
  if (d_key.wanted()) check("the keys' gradient", d_key.to, input.key.rows, input.key.columns);
  if (d_value.wanted()) check("the values' gradient", d_value.to, input.value.rows, input.value.columns);
  Check(static_cast<std::int64_t>(log_sum_exp.size()) == input.query.rows * input.heads,
        "attention: log_sum_exp holds {} numbers instead of {} tokens x {} heads", log_sum_exp.size(), input.query.rows,
        input.heads);

  // The backward pass recomputes two products, the scores and the gradient of the weights. It computes three more
  // products for the gradients of queries, keys and values. The forward pass has two products.
  const Profiled profiled("attention gradient", 2.5 * OperationsOf(input), 0);
  const std::int32_t key_heads = KeyHeads(input);
  BiasGradientParts<T> bias_parts(input, given.bias);
  // If a bias has partial gradients, the plan must not depend on the number of threads. Sequences are not divided if a
  // computed bias has a gradient.
  const int threads = bias_parts.needed() ? 8 : Threads();
  const bool may_cut = d_query.wanted() && (d_key.wanted() || d_value.wanted()) &&
                       (input.bias.computed == nullptr || !input.bias.computed->has_gradient());
  const BackwardPlan& plan = PlanBackward(input.queries, input.keys, input.key.rows, key_heads, may_cut ? threads : 0);
  const bool shared =
      std::ranges::any_of(plan.parts, [](const BackwardPart& part) { return part.last - part.first > 1; });
  Zero(d_query, input.queries, /*shared=*/false);
  Zero(d_key, input.keys, shared);
  Zero(d_value, input.keys, shared);
  const BackwardArguments<T> arguments{input, output, d_output, log_sum_exp, d_query, d_key, d_value};
  if (bias_parts.needed()) {
    const std::int64_t count = std::ssize(plan.parts), groups = bias_parts.Allocate(count);
    const auto work = [&](std::int64_t item) {  // computes the parts of a group in order, for one key head
      const std::int64_t group = item / key_heads;
      AttentionInput<T> of_group = input;
      of_group.bias.d_values = bias_parts.Part(group);
      const BackwardArguments<T> own{of_group, output, d_output, log_sum_exp, d_query, d_key, d_value};
      for (std::int64_t part = group * count / groups; part < (group + 1) * count / groups; ++part)
        Compute(plan.parts[static_cast<std::size_t>(part)], plan.order, static_cast<std::int32_t>(item % key_heads),
                own);
    };
    ParallelFor(groups * key_heads, std::ref(work));
    bias_parts.AddUp();
    return;
  }
  const std::int64_t pairs = std::ssize(plan.parts) * key_heads;
  const std::int64_t chunk = PairsPerPiece(input, pairs, key_heads);
  const auto work = [&](std::int64_t piece) {
    for (std::int64_t pair = piece * chunk; pair < std::min(pairs, (piece + 1) * chunk); ++pair) {
      Compute(plan.parts[static_cast<std::size_t>(pair / key_heads)], plan.order,
              static_cast<std::int32_t>(pair % key_heads), arguments);
    }
  };
  ParallelFor((pairs + chunk - 1) / chunk, std::ref(work));
}

template void AttentionBackward(const AttentionInput<float>&, Matrix<const float>, Matrix<const float>,
                                std::span<const float>, GradientTo<float>, GradientTo<float>, GradientTo<float>);
template void AttentionBackward(const AttentionInput<double>&, Matrix<const double>, Matrix<const double>,
                                std::span<const double>, GradientTo<double>, GradientTo<double>, GradientTo<double>);

}  // namespace headlight::kernels
#endif
