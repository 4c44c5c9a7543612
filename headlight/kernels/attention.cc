#include "headlight/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kernels/attention_head.h"
#include "headlight/kernels/prepared_bias.h"

namespace headlight::kernels {

namespace {

bool ShareRows(std::span<const Sequence> sequences, std::int64_t rows) {
  std::int32_t end = 0;  // end of the previous sequences, which are usually adjacent
  const auto behind = [&](const Sequence& sequence) {
    const bool apart = sequence.begin >= end;
    if (sequence.length > 0) end = sequence.end();
    return apart || sequence.length == 0;
  };
  if (std::ranges::all_of(sequences, behind)) return false;
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
  const auto& [query, key, value, queries, keys, key_rows, key_blocks, value_blocks, cache_type, present, heads,
               given_key_heads, scale, score_cap, mask, bias, dropout, compute] = input;
  Check(heads >= 1, "attention: {} heads; at least 1 is needed", heads);
  Check(given_key_heads >= 0 && heads % KeyHeads(input) == 0, "attention: {} heads; {} key heads must divide them",
        heads, given_key_heads);
  const std::int32_t key_heads = KeyHeads(input);
  Check(query.columns % heads == 0 && query.columns > 0 && query.columns / heads * key_heads == key.columns,
        "attention: queries of {} columns and keys of {} columns; they must be {} and {} heads x head_dim",
        query.columns, key.columns, heads, key_heads);
  Check(value.columns % key_heads == 0 && value.columns > 0,
        "attention: values of {} columns; {} key heads must divide them", value.columns, key_heads);
  for (const std::size_t blocks : {key_blocks.size(), value_blocks.size()})
    Check(blocks == 0 || (!key_rows.empty() && std::cmp_less_equal(key.rows, blocks * kBlockRows)),
          "attention: {} key rows in {} blocks, which need an index", key.rows, blocks);
  Check(cache_type == CacheType::unrounded || (!key_blocks.empty() && !value_blocks.empty()),
        "attention: keys in {} without blocks of a cache", Name(cache_type));
  Check(score_cap == 0 || (score_cap > 0 && std::isfinite(score_cap) && std::isfinite(scale / score_cap)),
        "attention: scores are capped at {}, which is neither 0 nor a positive number", score_cap);
  Check(key.rows == value.rows, "attention: {} rows of keys but {} of values", key.rows, value.rows);
  Check(queries.size() == keys.size(), "attention: {} sentences of queries but {} of keys", queries.size(),
        keys.size());
  Check(mask.left >= -1 && mask.right >= -1 && mask.block >= 0 && mask.stride >= 0,
        "attention: a mask of left {}, right {}, block {} and stride {}", mask.left, mask.right, mask.block,
        mask.stride);
  Check(mask.window >= 0 && mask.prefix >= 0 && (mask.window == 0 || (mask.width > 0 && mask.stride == 0)),
        "attention: a mask of prefix {}, window {}, width {} and stride {}", mask.prefix, mask.window, mask.width,
        mask.stride);
  Check(present.empty() || std::ssize(present) == key.rows, "attention: a mask of {} entries for {} rows of keys",
        present.size(), key.rows);
  CheckBias(input);
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
  for (const Sequence& rows : key_rows.empty() ? std::span<const Sequence>() : keys)
    Check(rows.step == 1, "attention: indexed keys have a step of {}, not 1", rows.step);
  Check(!ShareRows(queries, query.rows), "attention: two sentences share rows of queries");
  for (const std::int32_t row : key_rows) {
    Check(row >= 0 && row < key.rows, "attention: key row {} of {}", row, key.rows);
  }
}

template void CheckAttention(const AttentionInput<float>&);
template void CheckAttention(const AttentionInput<double>&);

}  // namespace headlight::kernels
