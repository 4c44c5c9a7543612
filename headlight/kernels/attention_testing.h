// Random attention problems for tests, and a reference implementation as plain loops in double precision.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "headlight/kernels/attention.h"
#include "headlight/kernels/attention_head.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels {

enum class BiasKind { none, dense, shared_pairs, indexed, relative, of_keys, computed };

struct AttentionCase {
  std::string name = {};
  std::vector<std::pair<std::int32_t, std::int32_t>> lengths = {};  // numbers of queries and keys of each sequence
  std::int32_t heads = 1, head_dim = 4, value_dim = 4;
  bool causal = false;
  std::int32_t window = 0;
  BiasKind bias = BiasKind::none;
  double dropout = 0;
  bool shared_keys = false;  // if true, all sequences use the keys of the first sequence
  bool indexed = false;      // if true, keys are selected by key_rows
  bool interleaved = false;  // if true, sequence b is column b of a grid
  std::int32_t key_heads = 0;
  AttentionMask mask = {};
  bool absent = false;  // if true, some keys are absent, including all keys of the first sequence
  double score_cap = 0;
};

inline bool Sees(const AttentionMask& mask, std::int32_t position, std::int32_t key) {
  if (mask.causal && key > position) return false;
  if (key < mask.prefix) return true;
  position -= mask.prefix;
  key -= mask.prefix;
  const auto part_of = [](std::int32_t at, std::int32_t size) { return std::floor(static_cast<double>(at) / size); };
  if (mask.window > 0) {
    const double rows = part_of(position, mask.width) - part_of(key, mask.width);
    const double columns = position - key - rows * mask.width;
    if (rows < 0 || rows >= mask.window || columns < 0 || columns >= mask.window) return false;
  }
  return (mask.left < 0 || position - key <= mask.left) && (mask.right < 0 || key - position <= mask.right) &&
         (mask.block == 0 || part_of(position, mask.block) == part_of(key, mask.block)) &&
         (mask.stride == 0 || (position - key) % mask.stride == 0);
}

// The rows of a case's sequences. Some rows before, after and (for keys) between the sequences belong to no sequence.
struct AttentionRows {
  explicit AttentionRows(const AttentionCase& c) {
    const auto columns = static_cast<std::int32_t>(c.lengths.size());
    for (const auto& [query_count, key_count] : c.lengths) {
      if (c.interleaved) {
        const auto column = static_cast<std::int32_t>(queries.size());
        queries.push_back({2 + column, query_count, columns});
        keys.push_back({3 + column, key_count, columns});
        query_rows = std::max(query_rows, queries.back().end());
        key_rows = std::max(key_rows, keys.back().end() + 1);
        continue;
      }
      queries.push_back({query_rows, query_count});
      query_rows += query_count;
      const bool share = c.shared_keys && !keys.empty();
      keys.push_back(share ? keys[0] : Sequence{key_rows, key_count});
      if (!share) key_rows += key_count + 1;
    }
    query_rows += 1;
    while (c.indexed && key_rows % 7 == 0) ++key_rows;
    for (std::int32_t position = 0; c.indexed && position < key_rows; ++position) {
      index.push_back(position * 7 % key_rows);
    }
  }

  Sequences queries, keys;
  std::int32_t query_rows = 2, key_rows = 3;
  std::vector<std::int32_t> index;
};

// A bias of the given kind, with its values and their gradient. The kinds are:
//   dense: [heads, pairs], separate pairs per sequence;
//   shared_pairs: [pairs, heads], the same for all sequences;
//   indexed: a table [heads, 31] and an entry per pair;
//   relative: a table [23, heads] and an entry per distance;
//   computed: a number per sequence, head and distance.
template <typename T>
class TestBias : public ComputedBias<T> {
 public:
  TestBias(BiasKind kind, const AttentionRows& rows, std::int32_t heads) : kind_(kind), rows_(rows), heads_(heads) {
    std::int64_t pairs = 0;
    for (std::size_t b = 0; b < rows.queries.size(); ++b) {
      begin_.push_back(pairs);
      if (kind != BiasKind::shared_pairs || b + 1 == rows.queries.size())
        pairs += std::int64_t{rows.queries[b].length} * rows.keys[b].length;
    }
    if (kind == BiasKind::indexed)
      for (std::int32_t pair = 0; pair < pairs; ++pair) index_.push_back(pair * 13 % 31);
    if (kind == BiasKind::relative)
      for (std::int32_t distance = 0; distance < 2 * kLongest + 1; ++distance) index_.push_back(distance * 7 % 23);
    std::int32_t longest = 0;
    for (const Sequence& keys : rows.keys) longest = std::max(longest, keys.length);
    places_ = kind == BiasKind::relative   ? 23
              : kind == BiasKind::of_keys  ? longest
              : kind == BiasKind::indexed  ? 31
              : kind == BiasKind::computed ? std::ssize(rows.queries) * (2 * kLongest + 1)
                                           : pairs;
    values = TestVector<T>(heads * places_, 9);
    gradient.resize(values.size());
  }
  TestBias(const TestBias&) = delete;

  // Returns the index in `values` of the bias of query i and key j of sequence b.
  std::size_t Index(std::size_t b, std::int32_t head, std::int32_t i, std::int32_t j) const {
    const std::int32_t past = rows_.keys[b].length - rows_.queries[b].length;
    const std::int32_t distance = std::clamp(j - i - past, -kLongest, kLongest) + kLongest;
    std::int64_t place = begin_[b] + i * rows_.keys[b].length + j;
    if (kind_ == BiasKind::indexed) place = index_[static_cast<std::size_t>(place)];
    if (kind_ == BiasKind::relative) place = index_[static_cast<std::size_t>(distance)];
    if (kind_ == BiasKind::of_keys) place = j;
    if (kind_ == BiasKind::computed) place = static_cast<std::int64_t>(b) * (2 * kLongest + 1) + distance;
    return static_cast<std::size_t>(HeadsFirst() ? head * places_ + place : place * heads_ + head);
  }

  AttentionBias<T> Data() {
    if (kind_ == BiasKind::computed) return {.computed = this};
    const std::int64_t rows = HeadsFirst() ? heads_ : places_, columns = HeadsFirst() ? places_ : heads_;
    AttentionBias<T> data{.values = {values.data(), rows, columns, columns},
                          .heads_first = HeadsFirst(),
                          .index = index_,
                          .d_values = {gradient.data(), rows, columns, columns}};
    if (kind_ == BiasKind::indexed) data.by = BiasIndexing::table;
    if (kind_ == BiasKind::relative) data.by = BiasIndexing::distances;
    if (kind_ == BiasKind::of_keys) data.by = BiasIndexing::keys;
    if (kind_ == BiasKind::dense || kind_ == BiasKind::indexed) data.begin = begin_;
    return data;
  }

  void Add(const ScoreTile& tile, Matrix<T> scores) const override {
    for (std::int32_t i = 0; i < scores.rows; ++i)
      for (std::int32_t j = 0; j < scores.columns; ++j) scores.row(i)[j] += values[IndexIn(tile, i, j)];
  }
  bool has_gradient() const override { return true; }
  void AddGradient(const ScoreTile& tile, Matrix<const T> d_scores) override {
    for (std::int32_t i = 0; i < d_scores.rows; ++i)
      for (std::int32_t j = 0; j < d_scores.columns; ++j) gradient[IndexIn(tile, i, j)] += d_scores.row(i)[j];
  }

  std::vector<T> values, gradient;

 private:
  static constexpr std::int32_t kLongest = 20;
  bool HeadsFirst() const { return kind_ != BiasKind::shared_pairs && kind_ != BiasKind::relative; }
  std::size_t IndexIn(const ScoreTile& tile, std::int32_t i, std::int32_t j) const {
    return Index(static_cast<std::size_t>(tile.sequence), tile.head, tile.query + i, tile.key + j);
  }

  BiasKind kind_;
  const AttentionRows& rows_;
  std::int32_t heads_;
  std::int64_t places_ = 0;
  std::vector<std::int64_t> begin_;
  std::vector<std::int32_t> index_;
};

inline std::int32_t KeyHeadsOf(const AttentionCase& c) { return c.key_heads > 0 ? c.key_heads : c.heads; }

// The tensors of a case, as unaligned columns of wider matrices, and the results of the kernels.
template <typename T>
struct AttentionProblem {
  explicit AttentionProblem(const AttentionCase& c)
      : rows(c),
        query({rows.query_rows, c.heads * c.head_dim, 5, 1}, 1),
        key({rows.key_rows, KeyHeadsOf(c) * c.head_dim, 3, 3}, 2),
        value({rows.key_rows, KeyHeadsOf(c) * c.value_dim, 7, 5}, 3),
        output({rows.query_rows, c.heads * c.value_dim, 1, 1}, 4),
        d_output({rows.query_rows, c.heads * c.value_dim, 2, 7}, 5),
        d_query({rows.query_rows, c.heads * c.head_dim, 5, 1}, 6),
        d_key({rows.key_rows, KeyHeadsOf(c) * c.head_dim, 3, 3}, 7),
        d_value({rows.key_rows, KeyHeadsOf(c) * c.value_dim, 4, 1}, 8),
        log_sum_exp(static_cast<std::size_t>(rows.query_rows * c.heads)) {
    if (c.bias != BiasKind::none) bias = std::make_unique<TestBias<T>>(c.bias, rows, c.heads);
    input.query = query.view();
    input.key = key.view();
    input.value = value.view();
    input.queries = rows.queries;
    input.keys = rows.keys;
    input.key_rows = rows.index;
    input.heads = c.heads;
    input.key_heads = c.key_heads;
    input.scale = static_cast<T>(1 / std::sqrt(static_cast<double>(c.head_dim)));
    input.score_cap = static_cast<T>(c.score_cap);
    input.mask = c.mask;
    input.mask.causal = c.causal || c.mask.causal;
    if (c.window > 0) input.mask.left = input.mask.right = c.window - 1;
    if (bias) input.bias = bias->Data();
    input.dropout = {c.dropout, 11};
    if (c.absent) {
      for (std::int32_t row = 0; row < rows.key_rows; ++row)
        present.push_back(row % 3 != 1 && row >= rows.keys[0].begin + rows.keys[0].length);
      input.present = present;
    }
  }
  AttentionProblem(const AttentionProblem&) = delete;

  void Forward() { AttentionForward<T>(input, output.view(), log_sum_exp); }
  void Backward(bool add = false) {
    if (bias) std::fill(bias->gradient.begin(), bias->gradient.end(), T{0});
    AttentionBackward<T>(input, output.view(), d_output.view(), log_sum_exp, {d_query.view(), add}, {d_key.view(), add},
                         {d_value.view(), add});
  }

  AttentionRows rows;
  TestMatrix<T> query, key, value, output, d_output, d_query, d_key, d_value;
  std::vector<T> log_sum_exp;
  std::unique_ptr<TestBias<T>> bias;
  std::vector<std::uint8_t> present;
  AttentionInput<T> input;
};

// The reference output and its gradients. Matrices are contiguous, with 0 in rows outside all sequences.
struct Reference {
  std::vector<double> output, d_query, d_key, d_value, d_bias;
  std::vector<std::vector<double>> weights;  // per sequence: [heads, query, key]
};

template <typename T>
Reference ReferenceAttention(const AttentionProblem<T>& problem) {
  const AttentionInput<T>& in = problem.input;
  Reference r;
  const std::int64_t key_heads = KeyHeads(in), output_columns = OutputColumns(in);
  r.output.resize(static_cast<std::size_t>(in.query.rows * output_columns));
  r.d_query.resize(static_cast<std::size_t>(in.query.rows * in.query.columns));
  r.d_key.resize(static_cast<std::size_t>(in.key.rows * in.key.columns));
  r.d_value.resize(static_cast<std::size_t>(in.value.rows * in.value.columns));
  if (problem.bias) r.d_bias.resize(problem.bias->values.size());
  const std::int64_t head_dim = in.query.columns / in.heads, value_dim = in.value.columns / key_heads;
  const double keep_scale = 1 / (1 - in.dropout.probability);
  for (std::size_t b = 0; b < in.queries.size(); ++b) {
    const std::int32_t queries = in.queries[b].length, keys = in.keys[b].length, past = keys - queries;
    auto& map = r.weights.emplace_back();
    for (std::int32_t h = 0; h < in.heads; ++h) {
      const std::int64_t kh = h / (in.heads / key_heads);  // key head of head h
      const std::uint64_t seed = AttentionHead<T>(in, static_cast<std::int32_t>(b), h).dropout_seed;
      for (std::int32_t i = 0; i < queries; ++i) {
        const std::int64_t query_row = in.queries[b].row(i);
        const T* const query = in.query.row(query_row) + h * head_dim;
        std::vector<double> weight(static_cast<std::size_t>(keys)), kept(weight), d_weight(weight), slope(keys, 1.0);
        std::vector<std::int64_t> rows;
        double sum = 0, delta = 0;
        for (std::int32_t j = 0; j < keys; ++j) {
          const std::int32_t position = in.keys[b].row(j);
          rows.push_back(in.key_rows.empty() ? position : in.key_rows[static_cast<std::size_t>(position)]);
          double score = 0;
          for (std::int64_t d = 0; d < head_dim; ++d)
            score += double{query[d]} * in.key.row(rows[j])[kh * head_dim + d];
          score *= in.scale;
          if (in.score_cap > 0) {
            const double tangent = std::tanh(score / in.score_cap);
            score = in.score_cap * tangent;
            slope[j] = 1 - tangent * tangent;
          }
          if (problem.bias) score += problem.bias->values[problem.bias->Index(b, h, i, j)];
          const bool seen =
              Sees(in.mask, i + past, j) && (in.present.empty() || in.present[static_cast<std::size_t>(rows[j])] != 0);
          sum += weight[j] = seen ? std::exp(score) : 0;
        }
        for (std::int32_t j = 0; j < keys; ++j) {
          weight[j] = sum == 0 ? 0 : weight[j] / sum;
          const bool drops = DropoutBits(RowDropoutKey(seed, static_cast<std::uint64_t>(i)),
                                         static_cast<std::uint32_t>(j)) < DropoutThreshold(in.dropout.probability);
          kept[j] = drops ? 0 : weight[j] * keep_scale;
          map.push_back(weight[j]);
          for (std::int64_t d = 0; d < value_dim; ++d) {
            const double value = in.value.row(rows[j])[kh * value_dim + d];
            const double d_output = problem.d_output.at(query_row, h * value_dim + d);
            r.output[static_cast<std::size_t>(query_row * output_columns + h * value_dim + d)] += kept[j] * value;
            r.d_value[static_cast<std::size_t>(rows[j] * in.value.columns + kh * value_dim + d)] += kept[j] * d_output;
            d_weight[j] += drops ? 0 : keep_scale * d_output * value;
          }
          delta += weight[j] * d_weight[j];
        }
        for (std::int32_t j = 0; j < keys; ++j) {
          const double d_capped = weight[j] * (d_weight[j] - delta), d_score = d_capped * slope[j];
          if (problem.bias) r.d_bias[problem.bias->Index(b, h, i, j)] += d_capped;
          for (std::int64_t d = 0; d < head_dim; ++d) {
            const std::int64_t column = kh * head_dim + d;
            r.d_query[static_cast<std::size_t>(query_row * in.query.columns + h * head_dim + d)] +=
                d_score * in.scale * in.key.row(rows[j])[column];
            r.d_key[static_cast<std::size_t>(rows[j] * in.key.columns + column)] += d_score * in.scale * query[d];
          }
        }
      }
    }
  }
  return r;
}

}  // namespace headlight::kernels
