#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/attention_backward.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway's order.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <functional>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/attention_parts.h"
#include "headlight/kernels/attention_tile-inl.h"
#include "headlight/kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
using kernels::BackwardPart;
using kernels::kBackwardKeys;
using kernels::kBackwardQueries;

// One head on the way back: its tiles are computed again from what the forward pass left. With P the weights and D
// their dropout (Dao et al., "FlashAttention", 2022, algorithm 4):
//   d_value = (P D)^T d_output,  d_weights = D (d_output V^T),  d_scores = P (d_weights - delta),
//   d_query = scale d_scores K,  d_key = scale d_scores^T Q,    delta = the row sums of output * d_output.
template <typename T>
class BackwardHead {
 public:
  BackwardHead(const kernels::BackwardArguments<T>& arguments, std::int32_t sentence, std::int32_t head_index)
      : arguments_(arguments),
        head_(arguments.input, sentence, head_index),
        output_(head_.OfQueries(arguments.output, head_.value_dim)),
        d_output_(head_.OfQueries(arguments.d_output, head_.value_dim)),
        d_query_(head_.OfQueries(arguments.d_query.to, head_.head_dim)),
        d_key_(head_.OfKeys(arguments.d_key.to, head_.head_dim)),
        d_value_(head_.OfKeys(arguments.d_value.to, head_.value_dim)),
        query_columns_(WholeVectors<T>(head_.head_dim)),
        value_columns_(WholeVectors<T>(head_.value_dim)) {}

  // d_key and d_value of the keys from first_key on, at most kBackwardKeys.
  void KeyBlock(std::int32_t first_key) { AddKeyBlock(first_key, {}, Scratch<T>(KeyBlockSize())); }

  // d_query of the queries from first_query on, at most kBackwardQueries.
  void QueryBlock(std::int32_t first_query) {
    const std::int32_t count = std::min(kBackwardQueries, head_.queries - first_query);
    Scratch<T> scratch(TileSize() + Scratch<T>::Size(count, head_.head_dim));
    const Packed<T> sums = scratch.Take(count, head_.head_dim);
    TakeTile(std::min(kBackwardKeys, head_.keys), scratch);
    std::fill(sums.data, sums.row(count), T{0});
    for (std::int32_t key = 0; key < head_.keys; key += kBackwardKeys) {
      const TileRange tile{first_query, count, key, std::min(kBackwardKeys, head_.keys - key)};
      if (SeesNothing(head_, tile)) continue;
      PackKeys(key, tile.keys);
      Recompute(tile);
      Product<false, T>(Of(d_scores_, keys_, sums, tile.keys), count, query_columns_);
    }
    GiveQueries(sums, first_query, count);
  }

  // All three gradients, in one walk over the tiles.
  void Everything() {
    Scratch<T> scratch(Scratch<T>::Size(head_.queries, head_.head_dim) + KeyBlockSize());
    Packed<T> sums;
    if (arguments_.d_query.wanted()) {
      sums = scratch.Take(head_.queries, head_.head_dim);
      std::fill(sums.data, sums.row(head_.queries), T{0});
    }
    for (std::int32_t key = 0; key < head_.keys; key += kBackwardKeys) {
      AddKeyBlock(key, sums, scratch);
    }
    GiveQueries(sums, 0, head_.queries);
  }

 private:
  // KeyBlock; also adds the block's part to d_query_sums [queries, head_dim] where there is one.
  void AddKeyBlock(std::int32_t first_key, const Packed<T>& d_query_sums, Scratch<T> scratch) {
    const std::int32_t count = std::min(kBackwardKeys, head_.keys - first_key);
    TakeTile(count, scratch);
    const Packed<T> d_keys = scratch.Take(count, head_.head_dim), d_values = scratch.Take(count, head_.value_dim);
    std::fill(d_keys.data, d_keys.row(count), T{0});
    std::fill(d_values.data, d_values.row(count), T{0});
    PackKeys(first_key, count);
    for (std::int32_t query = 0; query < head_.queries; query += kBackwardQueries) {
      const TileRange tile{query, std::min(kBackwardQueries, head_.queries - query), first_key, count};
      if (!Recompute(tile)) continue;
      AddToBias(tile);
      if (arguments_.d_value.wanted()) {
        PackRows(d_output_, query, tile.queries, head_.value_dim, d_outputs_.data, d_outputs_.stride);
        Product<true, T>(Of(weights_, d_outputs_, d_values, tile.queries), count, value_columns_);
      }
      if (arguments_.d_key.wanted()) {
        PackRows(head_.query, query, tile.queries, head_.head_dim, queries_.data, queries_.stride);
        Product<true, T>(Of(d_scores_, queries_, d_keys, tile.queries), count, query_columns_);
      }
      if (d_query_sums.data != nullptr) {
        const Packed<T> sums{d_query_sums.row(query), d_query_sums.stride};
        Product<false, T>(Of(d_scores_, keys_, sums, count), tile.queries, query_columns_);
      }
    }
    if (arguments_.d_key.wanted()) Give(d_keys, head_.input.scale, d_key_.Rows(first_key, count), arguments_.d_key.add);
    if (arguments_.d_value.wanted())
      Give(d_values, KeepScale(), d_value_.Rows(first_key, count), arguments_.d_value.add);
  }

  std::int64_t TileSize() const {
    using S = Scratch<T>;
    return 2 * S::Size(kBackwardQueries, kBackwardKeys) + S::Size(head_.head_dim, kBackwardKeys) +
           S::Size(head_.value_dim, kBackwardKeys) + S::Size(kBackwardKeys, head_.head_dim) +
           S::Size(kBackwardQueries, head_.head_dim) + S::Size(kBackwardQueries, head_.value_dim);
  }
  std::int64_t KeyBlockSize() const {
    using S = Scratch<T>;
    return TileSize() + S::Size(kBackwardKeys, head_.head_dim) + S::Size(kBackwardKeys, head_.value_dim);
  }
  void TakeTile(std::int32_t keys, Scratch<T>& scratch) {
    const std::int32_t queries = std::min(kBackwardQueries, head_.queries);
    weights_ = scratch.Take(queries, keys);
    d_scores_ = scratch.Take(queries, keys);
    keys_transposed_ = scratch.Take(head_.head_dim, keys);
    values_transposed_ = scratch.Take(head_.value_dim, keys);
    keys_ = scratch.Take(keys, head_.head_dim);
    queries_ = scratch.Take(queries, head_.head_dim);
    d_outputs_ = scratch.Take(queries, head_.value_dim);
  }

  void PackKeys(std::int32_t first, std::int32_t count) {
    for (std::int32_t j = first; j < first + count; ++j) PrefetchNextHead(head_.value.row(j), head_.value_dim);
    PrefetchNextRows(head_.key, first, count, head_.head_dim);
    PrefetchNextRows(head_.value, first, count, head_.value_dim);
    const std::int32_t columns = WholeVectors<T>(count);
    PackTransposed(head_.key, first, count, head_.head_dim, keys_transposed_.data, columns);
    PackTransposed(head_.value, first, count, head_.value_dim, values_transposed_.data, columns);
    PackRows(head_.key, first, count, head_.head_dim, keys_.data, keys_.stride);
  }

  // weights_ and d_scores_ of the tile, whose keys are packed; false where no query sees a key.
  bool Recompute(const TileRange& tile) {
    if (SeesNothing(head_, tile)) return false;
    for (std::int32_t i = 0; i < tile.queries; ++i) PrefetchNextHead(output_.row(tile.query + i), head_.value_dim);
    PrefetchNextRows(head_.query, tile.query, tile.queries, head_.head_dim);
    PrefetchNextRows<T>({output_.data, output_.stride}, tile.query, tile.queries, head_.value_dim);
    PrefetchNextRows<T>({d_output_.data, d_output_.stride}, tile.query, tile.queries, head_.value_dim);
    const std::int32_t columns = WholeVectors<T>(tile.keys);
    Product<false, T>({head_.query.row(tile.query), head_.query.stride, keys_transposed_.data, columns, weights_.data,
                       weights_.stride, head_.head_dim, false},
                      tile.queries, columns);
    Product<false, T>({d_output_.row(tile.query), d_output_.stride, values_transposed_.data, columns, d_scores_.data,
                       d_scores_.stride, head_.value_dim, false},
                      tile.queries, columns);
    const T scale = AddBias(head_, tile, weights_);
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
      bias.computed->AddGradient({head_.sentence, head_.head, tile.query, tile.key}, d_scores);
  }

  // to += a b, the inner dimension `inner`.
  static TileProduct<T> Of(const Packed<T>& a, const Packed<T>& b, const Packed<T>& to, std::int32_t inner) {
    return {a.data, a.stride, b.data, b.stride, to.data, to.stride, inner, true};
  }

  // to = scale * sums, or is added to.
  static void Give(const Packed<T>& sums, T scale, const Matrix<T>& to, bool add) {
    for (std::int32_t i = 0; i < to.rows; ++i)
      StoreScaled(sums.row(i), scale, static_cast<std::int32_t>(to.columns), add, to.row(i));
  }
  void GiveQueries(const Packed<T>& sums, std::int32_t first, std::int32_t count) {
    if (arguments_.d_query.wanted()) Give(sums, head_.input.scale, d_query_.Rows(first, count), arguments_.d_query.add);
  }

  T KeepScale() const { return static_cast<T>(1 / (1 - head_.input.dropout.probability)); }

  const kernels::BackwardArguments<T>& arguments_;
  AttentionHead<T> head_;
  Matrix<const T> output_, d_output_;    // this head's
  Matrix<T> d_query_, d_key_, d_value_;  // without data where not wanted
  std::int32_t query_columns_, value_columns_;
  // A tile: its weights (after dropout) and the gradient of its scores [queries, keys]; its keys and values packed
  // both ways as far as they are needed, and its queries and their gradients.
  Packed<T> weights_, d_scores_, keys_transposed_, values_transposed_, keys_, queries_, d_outputs_;
};

template <typename T>
void BackwardOf(const kernels::BackwardArguments<T>& arguments, const BackwardPart& part, std::int32_t sentence,
                std::int32_t head_index) {
  BackwardHead<T> head(arguments, sentence, head_index);
  if (part.kind == BackwardPart::whole) head.Everything();
  if (part.kind == BackwardPart::keys) head.KeyBlock(part.tile);
  if (part.kind == BackwardPart::queries) head.QueryBlock(part.tile);
}
HEADLIGHT_KERNEL(BackwardOf);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(BackwardOf);

namespace {

// Sets to 0 what will not be overwritten of a gradient: the rows that no sequence names or, where sequences share rows,
// all, so that each sequence adds to them.
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
    for (std::size_t place = part.first; place < part.last; ++place)
      HEADLIGHT_DISPATCH(BackwardOf, T)(arguments, part, order[place], head);
    arguments.d_key.add = arguments.d_value.add = true;  // the group's other query heads
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
  Check(input.key_rows.empty(), "attention: keys that are found through an index have no gradient");
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

  // Scores and the weights' gradient are made anew, then the gradients of queries, keys and values: five products for
  // two.
  const Profiled profiled("attention gradient", 2.5 * OperationsOf(input), 0);
  const std::int32_t key_heads = KeyHeads(input);
  BiasGradientParts<T> bias_parts(input, given.bias);
  // With parts of a bias's gradient the cuts must not depend on the number of threads; a computed bias allows none.
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
    const auto work = [&](std::int64_t item) {  // the parts of a group in order, for one key head
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
