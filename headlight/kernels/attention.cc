#include "headlight/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kernels/attention_head.h"

namespace headlight::kernels {

namespace {

bool ShareRows(std::span<const Sequence> sequences, std::int64_t rows) {
  thread_local std::vector<char> taken;
  taken.assign(static_cast<std::size_t>(rows), 0);
  for (const Sequence& sequence : sequences)
    for (std::int32_t i = 0; i < sequence.length; ++i)
      if (std::exchange(taken[static_cast<std::size_t>(sequence.row(i))], 1) != 0) return true;
  return false;
}

}  // namespace

template <typename T>
void CheckAttention(const AttentionInput<T>& input) {
  const auto& [query, key, value, queries, keys, key_rows, heads, given_key_heads, scale, causal, window, bias,
               dropout] = input;
  Check(heads >= 1, "attention: {} heads; at least 1 is needed", heads);
  Check(given_key_heads >= 0 && heads % KeyHeads(input) == 0, "attention: {} heads; {} key heads must divide them",
        heads, given_key_heads);
  const std::int32_t key_heads = KeyHeads(input);
  Check(query.columns % heads == 0 && query.columns > 0 && query.columns / heads * key_heads == key.columns,
        "attention: queries of {} columns and keys of {} columns; they must be {} and {} heads x head_dim",
        query.columns, key.columns, heads, key_heads);
  Check(value.columns % key_heads == 0 && value.columns > 0,
        "attention: values of {} columns; {} key heads must divide them", value.columns, key_heads);
  Check(key.rows == value.rows, "attention: {} rows of keys but {} of values", key.rows, value.rows);
  Check(queries.size() == keys.size(), "attention: {} sentences of queries but {} of keys", queries.size(),
        keys.size());
  Check(window >= 0, "attention: a window of {} keys", window);
  Check(dropout.probability >= 0 && dropout.probability < 1, "attention: dropout is {}, which is not in [0, 1)",
        dropout.probability);
  const std::int64_t positions = key_rows.empty() ? key.rows : static_cast<std::int64_t>(key_rows.size());
  const auto check_range = [](const char* what, std::size_t sentence, Sequence rows, std::int64_t limit) {
    const std::int64_t last = rows.begin + (std::int64_t{rows.length} - 1) * rows.step;
    Check(rows.begin >= 0 && rows.length >= 0 && rows.step >= 1 && rows.begin <= limit && last < limit,
          "attention: sentence {} has {} {} to {} of {}, in steps of {}", sentence, what, rows.begin, last + 1, limit,
          rows.step);
  };
  for (std::size_t sentence = 0; sentence < queries.size(); ++sentence) {
    check_range("queries", sentence, queries[sentence], query.rows);
    check_range("keys", sentence, keys[sentence], positions);
  }
  for (const Sequence& rows : keys)
    Check(key_rows.empty() || rows.step == 1, "attention: keys that are found through an index have a step of {}",
          rows.step);
  Check(!ShareRows(queries, query.rows), "attention: two sentences share rows of queries");
  for (const std::int32_t row : key_rows) {
    Check(row >= 0 && row < key.rows, "attention: key row {} of {}", row, key.rows);
  }
}

template void CheckAttention(const AttentionInput<float>&);
template void CheckAttention(const AttentionInput<double>&);

// Plain loops: the definition, for the few sentences that somebody looks at.
template <typename T>
void AttentionWeights(const AttentionInput<T>& input, std::int32_t sentence, std::span<T> weights) {
  CheckAttention(input);
  Check(sentence >= 0 && sentence < static_cast<std::int64_t>(input.queries.size()), "attention: sentence {} of {}",
        sentence, input.queries.size());
  const std::int64_t queries = input.queries[static_cast<std::size_t>(sentence)].length;
  const std::int64_t keys = input.keys[static_cast<std::size_t>(sentence)].length;
  Check(static_cast<std::int64_t>(weights.size()) == input.heads * queries * keys,
        "attention: room for {} weights where sentence {} has {} heads x {} queries x {} keys", weights.size(),
        sentence, input.heads, queries, keys);
  for (std::int32_t index = 0; index < input.heads; ++index) {
    const AttentionHead<T> head(input, sentence, index);
    const Matrix<T> map{weights.data() + index * queries * keys, queries, keys, keys};
    for (std::int32_t i = 0; i < head.queries; ++i) {
      for (std::int32_t j = 0; j < head.keys; ++j) {
        double score = 0;
        for (std::int32_t d = 0; d < head.head_dim; ++d) score += double{head.query.row(i)[d]} * head.key.row(j)[d];
        map.row(i)[j] = static_cast<T>(score * input.scale);
      }
    }
    if (input.bias != nullptr && keys > 0) input.bias->Add({sentence, index, 0, 0, head.past}, map);
    for (std::int32_t i = 0; i < head.queries; ++i) {
      const KeyRange seen = head.Visible(i);
      T* const row = map.row(i);
      double max = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int32_t j = seen.begin; j < seen.end; ++j) max = std::max<double>(max, row[j]);
      if (max == -std::numeric_limits<double>::infinity()) max = 0;
      for (std::int32_t j = seen.begin; j < seen.end; ++j) sum += std::exp(row[j] - max);
      for (std::int32_t j = 0; j < head.keys; ++j) {
        const bool visible = seen.begin <= j && j < seen.end && sum != 0;
        row[j] = visible ? static_cast<T>(std::exp(row[j] - max) / sum) : 0;
      }
    }
  }
}

template void AttentionWeights(const AttentionInput<float>&, std::int32_t, std::span<float>);
template void AttentionWeights(const AttentionInput<double>&, std::int32_t, std::span<double>);

}  // namespace headlight::kernels
