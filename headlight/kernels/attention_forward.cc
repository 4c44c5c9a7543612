#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/attention_forward.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/attention.h"
#include "headlight/kernels/attention_tile-inl.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/prepared_bias.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
using kernels::kForwardKeys;
using kernels::kForwardQueries;

// Writes the output of some queries, computed from their weighted sums of values.
template <typename T>
void StoreOutput(const AttentionHead<T>& head, std::int32_t first_query, std::int32_t queries, const Packed<T>& sums,
                 const RunningSoftmax<T>* softmax, Matrix<T> output, T* log_sum_exp) {
  const Matrix<T> to = head.OfQueries(output, head.value_dim).Rows(first_query, queries);
  const T keep_scale = static_cast<T>(1 / (1 - head.input.dropout.probability));
  for (std::int32_t i = 0; i < queries; ++i) {
    const T sum = softmax[i].sum;
    StoreScaled(sums.row(i), sum == 0 ? 0 : keep_scale / sum, head.value_dim, false, to.row(i));
  }
  for (std::int32_t i = 0; i < queries && log_sum_exp != nullptr; ++i) {
    const std::int64_t row = head.query_rows.row(first_query + i);
    const auto [max, sum] = softmax[i];
    log_sum_exp[row * head.input.heads + head.head] =
        sum == 0 ? std::numeric_limits<T>::infinity() : max + std::log(sum);
  }
}

// Computes the output of one head for at most kForwardQueries queries, starting at first_query, or the output of
// several heads for one query.
template <typename T>
void ForwardBlock(const AttentionInput<T>& input, std::int32_t sequence, std::int32_t head_index,
                  std::int32_t heads_together, std::int32_t first_query, Matrix<T> output, T* log_sum_exp) {
  const AttentionHead<T> head(input, sequence, head_index, heads_together);
  const std::int32_t queries = std::min(kForwardQueries, head.queries - first_query);
  const std::int32_t most_keys = std::min(kForwardKeys, head.keys);
  const std::int32_t value_columns = WholeVectors<T>(head.value_dim);
  using S = Scratch<T>;
  const bool widens = input.cache_type != kernels::CacheType::unrounded;
  const std::int32_t widest = widens ? std::max(head.head_dim, head.value_dim) : 0;
  S scratch(S::Size(queries, most_keys) + S::Size(queries, head.value_dim) + S::Size(head.head_dim, most_keys) +
            S::Size(most_keys, head.value_dim) + S::Size(most_keys, widest));
  const Packed<T> scores = scratch.Take(queries, most_keys), sums = scratch.Take(queries, head.value_dim);
  const Packed<T> keys = scratch.Take(head.head_dim, most_keys), values = scratch.Take(most_keys, head.value_dim);
  const Packed<T> widened = scratch.Take(most_keys, widest);
  RunningSoftmax<T> softmax[kForwardQueries];

  PrefetchNextRows(head.query, first_query, queries, head.head_dim);
  std::fill(sums.data, sums.row(queries), T{0});
  const KeyRange range = head.Visible(first_query, queries);
  const std::int32_t first_key = range.begin / kForwardKeys * kForwardKeys;
  for (std::int32_t key = first_key; key < range.end; key += kForwardKeys) {
    const TileRange tile{first_query, queries, key, std::min(kForwardKeys, head.keys - key)};
    if (head.gaps && IsFullyMasked(head, tile)) continue;
    const std::int32_t columns = WholeVectors<T>(tile.keys);
    if (widens) {
      PrefetchEntries(head.value, key, tile.keys);
    } else {
      PrefetchNextRows(head.key, key, tile.keys, head.head_dim);
      PrefetchNextRows(head.value, key, tile.keys, head.value_dim);
      for (std::int32_t j = key; j < key + tile.keys; ++j) {
        PrefetchNextHead(head.key.row(j), head.head_dim);
        if (ReadsUnpacked<T>(queries))
          PrefetchNextHead(head.value.row(j), head.value_dim);  // without packing, rows are prefetched here
      }
    }
    TileScores(head, tile, RowsOfTile(head.key, key, tile.keys, head.head_dim, widened), keys, scores);
    const T scale = CapAndAddBias(head, tile, scores);
    T maxima[kForwardQueries];
    for (std::int32_t i = 0; i < queries; ++i) {
      maxima[i] = ScaleAndMask(scores.row(i), columns, SeenIn(head, first_query + i, tile), scale);
    }
    for (std::int32_t i = 0; i < queries; ++i) {
      const WeightDropout dropout = DropoutOf(head, first_query + i, key);
      const T factor = Exponentiate(scores.row(i), columns, maxima[i], dropout, softmax[i]);
      if (key != first_key && factor != 1) StoreScaled(sums.row(i), factor, value_columns, false, sums.row(i));
    }
    if (widens && key + kForwardKeys < range.end)
      PrefetchEntries(head.key, key + kForwardKeys, std::min(kForwardKeys, range.end - key - kForwardKeys));
    AddValues(head, tile, scores, RowsOfTile(head.value, key, tile.keys, head.value_dim, widened), values, sums);
  }

  StoreOutput(head, first_query, queries, sums, softmax, output, log_sum_exp);
}
HEADLIGHT_KERNEL(ForwardBlock);

// The size of a bfloat16 tile. Most sequences fit into one tile of keys, so sums need no rescaling.
constexpr std::int32_t kRoundedKeys = 256, kRoundedQueries = 32;

// Computes the output of ForwardBlock in bfloat16, for any number of queries. Keys and values are packed once.
void ForwardRounded(const AttentionInput<float>& input, std::int32_t sequence, std::int32_t head_index,
                    std::int32_t first_query, std::int32_t all_queries, Matrix<float> output, float* log_sum_exp) {
  constexpr std::int32_t kPanel = kernels::kPanelColumns, kStep = 32;  // step of the zero-padded depth
  const AttentionHead<float> head(input, sequence, head_index);
  const KeyRange all_keys = head.Visible(first_query, all_queries);
  const std::int32_t begin = all_keys.begin / kRoundedKeys * kRoundedKeys;
  const std::int64_t tiles = (std::max(0, all_keys.end - begin) + kRoundedKeys - 1) / kRoundedKeys;
  const std::int64_t pairs = kernels::Bfloat16Pairs(head.head_dim);
  const std::int64_t value_panels = (head.value_dim + kPanel - 1) / kPanel;
  const std::int64_t key_panel = pairs * kernels::kBfloat16Pair, value_panel = kRoundedKeys * kPanel;
  const std::int64_t key_tile = kRoundedKeys / kPanel * key_panel, value_tile = value_panels * value_panel;
  struct Rounded;
  auto* const query = KeptScratch<Rounded, std::uint16_t>(kRoundedQueries * (2 * pairs + kRoundedKeys) +
                                                          tiles * (key_tile + value_tile));
  auto *const weights = query + kRoundedQueries * 2 * pairs, *const keys = weights + kRoundedQueries * kRoundedKeys;
  auto* const values = keys + tiles * key_tile;
  using S = Scratch<float>;
  S scratch(S::Size(kRoundedQueries, kRoundedKeys) + S::Size(kRoundedQueries, head.value_dim));
  const Packed<float> scores = scratch.Take(kRoundedQueries, kRoundedKeys);
  const Packed<float> sums = scratch.Take(kRoundedQueries, head.value_dim);

  for (std::int32_t key = begin; key < all_keys.end; key += kPanel) {
    const std::int32_t count = std::min(kPanel, head.keys - key);
    for (std::int32_t j = key; j < key + count; ++j) {
      PrefetchNextHead(head.key.row(j), head.head_dim);
      PrefetchNextHead(head.value.row(j), head.value_dim);
    }
    const std::int64_t tile = (key - begin) / kRoundedKeys, row = (key - begin) % kRoundedKeys;
    kernels::PackBfloat16Panel({head.key.row(key), count, head.head_dim, head.key.stride}, /*transposed=*/true,
                               keys + (key - begin) / kPanel * key_panel);
    const Matrix<const float> rows{head.value.row(key), count, head.value_dim, head.value.stride};
    for (std::int64_t panel = 0; panel < value_panels; ++panel) {
      std::uint16_t* const to = values + tile * value_tile + panel * value_panel + row * kPanel;
      const std::int64_t column = panel * kPanel;
      const auto part = rows.Columns(column, std::min<std::int64_t>(kPanel, head.value_dim - column));
      kernels::PackBfloat16Panel(part, /*transposed=*/false, to);
      std::fill(to + kernels::Bfloat16Pairs(count) * kernels::kBfloat16Pair, to + kPanel * kPanel, std::uint16_t{0});
    }
  }

  for (std::int32_t first = first_query; first < first_query + all_queries; first += kRoundedQueries) {
    const std::int32_t queries = std::min(kRoundedQueries, first_query + all_queries - first);
    RunningSoftmax<float> softmax[kRoundedQueries];
    std::fill(sums.data, sums.row(queries), 0.0F);
    kernels::RoundRows({head.query.row(first), queries, head.head_dim, head.query.stride}, query);
    const KeyRange range = head.Visible(first, queries);
    const std::int32_t first_key = range.begin / kRoundedKeys * kRoundedKeys;
    for (std::int32_t key = first_key; key < range.end; key += kRoundedKeys) {
      const TileRange tile{first, queries, key, std::min(kRoundedKeys, range.end - key)};
      if (head.gaps && IsFullyMasked(head, tile)) continue;
      const std::int32_t columns = (tile.keys + kStep - 1) / kStep * kStep;
      const std::int64_t index = (key - begin) / kRoundedKeys;
      kernels::Bfloat16Product({query, 2 * pairs, 2, pairs}, keys + index * key_tile,
                               {scores.data, queries, columns, scores.stride}, {}, nullptr);
      const float scale = CapAndAddBias(head, tile, scores);
      for (std::int32_t i = 0; i < queries; ++i) {
        const float max = ScaleAndMask(scores.row(i), columns, SeenIn(head, first + i, tile), scale);
        const float factor = Exponentiate(scores.row(i), columns, max, DropoutOf(head, first + i, key), softmax[i]);
        if (key != first_key && factor != 1)
          StoreScaled(sums.row(i), factor, WholeVectors<float>(head.value_dim), false, sums.row(i));
      }
      kernels::RoundRows({scores.data, queries, columns, scores.stride}, weights);
      for (std::int64_t panel = 0; panel < value_panels; ++panel) {
        const std::int64_t column = panel * kPanel;
        const Matrix<float> to{sums.data + column, queries, std::min<std::int64_t>(kPanel, head.value_dim - column),
                               sums.stride};
        kernels::Bfloat16Product({weights, columns, 2, columns / 2}, values + index * value_tile + panel * value_panel,
                                 to, {.added = to}, nullptr);
      }
    }
    StoreOutput(head, first, queries, sums, softmax, output, log_sum_exp);
  }
}

// Computes the weights of one head for at most kForwardQueries queries, starting at first_query, as rows of
// weights[query, key].
template <typename T>
void WeightsBlock(const AttentionInput<T>& input, std::int32_t sequence, std::int32_t head_index,
                  std::int32_t first_query, Matrix<T> weights) {
  const hn::ScalableTag<T> d;
  const AttentionHead<T> head(input, sequence, head_index);
  const std::int32_t queries = std::min(kForwardQueries, head.queries - first_query);
  const std::int32_t most_keys = std::min(kForwardKeys, head.keys);
  using S = Scratch<T>;
  const std::int32_t widest = input.cache_type != kernels::CacheType::unrounded ? head.head_dim : 0;
  S scratch(S::Size(queries, most_keys) + S::Size(head.head_dim, most_keys) + S::Size(most_keys, widest));
  const Packed<T> scores = scratch.Take(queries, most_keys), keys = scratch.Take(head.head_dim, most_keys);
  const Packed<T> widened = scratch.Take(most_keys, widest);
  constexpr T lowest = -std::numeric_limits<T>::infinity();
  T maxima[kForwardQueries];
  std::fill_n(maxima, queries, lowest);
  for (std::int32_t key = 0; key < head.keys; key += kForwardKeys) {
    const TileRange tile{first_query, queries, key, std::min(kForwardKeys, head.keys - key)};
    const bool unseen = IsFullyMasked(head, tile);
    if (!unseen) TileScores(head, tile, RowsOfTile(head.key, key, tile.keys, head.head_dim, widened), keys, scores);
    const T scale = unseen ? 1 : CapAndAddBias(head, tile, scores);
    for (std::int32_t i = 0; i < queries; ++i) {
      T* const to = weights.row(first_query + i) + key;
      if (unseen) {
        std::fill_n(to, tile.keys, lowest);
        continue;
      }
      const SeenColumns seen = SeenIn(head, first_query + i, tile);
      maxima[i] = std::max(maxima[i], ScaleAndMask(scores.row(i), WholeVectors<T>(tile.keys), seen, scale));
      std::copy_n(scores.row(i), tile.keys, to);
    }
  }
  for (std::int32_t i = 0; i < queries; ++i) {
    T* const row = weights.row(first_query + i);
    const auto base = hn::Set(d, maxima[i] == lowest ? 0 : maxima[i]);
    const T sum = SumOverLanes(d, head.keys, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto weight = WeightOf(d, hn::Sub(LoadLanes(d, row + column, lanes), base));
      StoreLanes(weight, d, row + column, lanes);
      return KeepLanes(d, weight, lanes, hn::Zero(d));
    });
    StoreScaled(row, sum == 0 ? 0 : 1 / sum, head.keys, false, row);
  }
}
HEADLIGHT_KERNEL(WeightsBlock);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(ForwardBlock);
HWY_EXPORT(ForwardRounded);
HEADLIGHT_EXPORT(WeightsBlock);

namespace {

// Merges consecutive sequences with the same keys, such as beams. Only merges if there is no mask, bias or dropout, and
// if nothing is rounded, so that the results are bit-identical. Merging reduces the time for 5 beams to two fifths.
// `queries` and `keys` own the sequences of the result.
template <typename T>
AttentionInput<T> Merge(const AttentionInput<T>& input, Sequences& queries, Sequences& keys) {
  AttentionInput<T> merged = input;
  if (input.mask != AttentionMask{} || !input.bias.empty() || input.dropout.probability > 0 ||
      input.compute != Compute::float32)
    return merged;
  queries.clear();
  keys.clear();
  for (std::size_t sequence = 0; sequence < input.queries.size(); ++sequence) {
    const Sequence rows = input.queries[sequence];
    if (!keys.empty() && keys.back() == input.keys[sequence] &&
        queries.back().row(queries.back().length) == rows.begin && queries.back().step == rows.step) {
      queries.back().length += rows.length;
    } else {
      queries.push_back(rows);
      keys.push_back(input.keys[sequence]);
    }
  }
  merged.queries = queries;
  merged.keys = keys;
  return merged;
}

// Returns how many heads with the same keys are computed together if a sequence has one query. Leaves work for all
// threads.
template <typename T>
std::int32_t HeadsTogether(const AttentionInput<T>& input, std::int64_t pairs) {
  if (!input.bias.empty() || input.dropout.probability > 0) return 1;
  const std::int32_t sharing = input.heads / KeyHeads(input);
  std::int32_t together = std::min(sharing, kForwardQueries);
  while (together > 1 && (sharing % together != 0 || pairs / together < Threads())) --together;
  return together;
}

}  // namespace

template <typename T>
void AttentionForward(const AttentionInput<T>& given, Matrix<T> output, std::span<T> log_sum_exp) {
  CheckAttention(given);
  thread_local Sequences merged_queries, merged_keys;
  AttentionInput<T> input = Merge(given, merged_queries, merged_keys);
  // If each sequence has one query, the query attends to all keys, so the causal mask has no effect.
  if (input.mask == AttentionMask{.causal = true} &&
      std::ranges::all_of(input.queries, [](const Sequence& rows) { return rows.length == 1; }))
    input.mask = {};
  input.bias = PreparedBias(given.bias, given.heads);
  const std::int64_t columns = OutputColumns(input);
  Check(output.rows == input.query.rows && output.columns == columns,
        "attention: the output is [{}, {}] instead of [{}, {}]", output.rows, output.columns, input.query.rows,
        columns);
  Check(log_sum_exp.empty() || static_cast<std::int64_t>(log_sum_exp.size()) == input.query.rows * input.heads,
        "attention: log_sum_exp holds {} numbers instead of {} tokens x {} heads", log_sum_exp.size(), input.query.rows,
        input.heads);

  const Profiled profiled("attention", OperationsOf(input), 0);
  constexpr std::int32_t rounded_queries = 256;  // enough queries to amortize the packing of keys in each block
  struct Block {
    std::int32_t sequence, query, queries;
    bool rounded;
  };
  thread_local std::vector<Block> blocks;
  blocks.clear();
  for (std::size_t sequence = 0; sequence < input.queries.size(); ++sequence) {
    const std::int32_t queries = input.queries[sequence].length;
    const bool rounded = Rounds(input, static_cast<std::int32_t>(sequence));
    const std::int32_t at_once = rounded ? rounded_queries : kForwardQueries;
    for (std::int32_t query = 0; query < queries; query += at_once)
      blocks.push_back({static_cast<std::int32_t>(sequence), query, std::min(at_once, queries - query), rounded});
  }
  const std::int64_t pairs = static_cast<std::int64_t>(blocks.size()) * input.heads;
  const std::int64_t chunk = PairsPerPiece(input, pairs, input.heads);
  const std::int32_t most_together = log_sum_exp.empty() ? HeadsTogether(input, pairs) : 1;
  const auto kernel = HEADLIGHT_DISPATCH(ForwardBlock, T);
  const auto work = [&, blocks = blocks.data()](std::int64_t piece) {
    for (std::int64_t pair = piece * chunk; pair < std::min(pairs, (piece + 1) * chunk); ++pair) {
      const Block block = blocks[pair / input.heads];
      const auto head = static_cast<std::int32_t>(pair % input.heads);
      T* const sums = log_sum_exp.empty() ? nullptr : log_sum_exp.data();
      if constexpr (std::is_same_v<T, float>)
        if (block.rounded) {
          HWY_DYNAMIC_DISPATCH(ForwardRounded)
          (input, block.sequence, head, block.query, block.queries, output, sums);
          continue;
        }
      const std::int32_t together = input.queries[block.sequence].length == 1 ? most_together : 1;
      if (head % together == 0) kernel(input, block.sequence, head, together, block.query, output, sums);
    }
  };
  ParallelFor((pairs + chunk - 1) / chunk, std::ref(work));
}

template void AttentionForward(const AttentionInput<float>&, Matrix<float>, std::span<float>);
template void AttentionForward(const AttentionInput<double>&, Matrix<double>, std::span<double>);

template <typename T>
void AttentionWeights(const AttentionInput<T>& input, std::int32_t sequence, std::span<T> weights) {
  Check(sequence >= 0 && sequence < std::ssize(input.queries) && sequence < std::ssize(input.keys),
        "attention: there is no sequence {} in a batch of {}", sequence, input.queries.size());
  AttentionInput<T> alone = input;  // only this sequence is checked, because callers may iterate over all sequences
  alone.queries = input.queries.subspan(static_cast<std::size_t>(sequence), 1);
  alone.keys = input.keys.subspan(static_cast<std::size_t>(sequence), 1);
  if (!input.bias.begin.empty()) alone.bias.begin = input.bias.begin.subspan(static_cast<std::size_t>(sequence), 1);
  CheckAttention(alone);
  AttentionInput<T> prepared = input;
  prepared.bias = PreparedBias(input.bias, input.heads);
  const std::int64_t queries = alone.queries[0].length, keys = alone.keys[0].length;
  Check(std::ssize(weights) == input.heads * queries * keys,
        "attention: {} weights do not fit sentence {} with {} heads x {} queries x {} keys", weights.size(), sequence,
        input.heads, queries, keys);
  if (weights.empty()) return;
  const std::int64_t blocks = (queries + kForwardQueries - 1) / kForwardQueries;
  const auto work = [&](std::int64_t pair) {
    const std::int64_t head = pair % input.heads, first = pair / input.heads * kForwardQueries;
    HEADLIGHT_DISPATCH(WeightsBlock, T)
    (prepared, sequence, static_cast<std::int32_t>(head), static_cast<std::int32_t>(first),
     {weights.data() + head * queries * keys, queries, keys, keys});
  };
  constexpr std::int64_t enough = 100'000;  // number of multiplications that amortizes waking other threads
  if (queries * keys * input.query.columns < enough) {
    for (std::int64_t pair = 0; pair < blocks * input.heads; ++pair) work(pair);
  } else {
    ParallelFor(blocks * input.heads, std::ref(work));
  }
}

template void AttentionWeights(const AttentionInput<float>&, std::int32_t, std::span<float>);
template void AttentionWeights(const AttentionInput<double>&, std::int32_t, std::span<double>);

}  // namespace headlight::kernels
#endif
