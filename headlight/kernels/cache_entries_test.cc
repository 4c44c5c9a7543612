#include "headlight/kernels/cache_entries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "headlight/kernels/attention_testing.h"

namespace headlight::kernels::cache_entries_test {
namespace {

// Dequantizes an entry with scalar code.
template <typename T>
std::vector<T> ReadEntry(CacheType type, const std::byte* entry, std::int64_t dim) {
  std::vector<T> numbers(static_cast<std::size_t>(dim));
  if (type == CacheType::unrounded) std::memcpy(numbers.data(), entry, numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type == CacheType::bfloat16) {
      std::uint32_t bits = 0;
      std::memcpy(reinterpret_cast<std::byte*>(&bits) + 2, entry + 2 * i, 2);
      numbers[i] = std::bit_cast<float>(bits);
    } else if (type == CacheType::int8) {
      numbers[i] = ScaleOfEntry(entry) * static_cast<float>(static_cast<std::int8_t>(entry[sizeof(float) + i]));
    }
  }
  return numbers;
}

template <typename T>
std::vector<T> Rounded(CacheType type, const std::vector<T>& numbers) {
  std::vector<std::byte> entry(static_cast<std::size_t>(EntryBytes<T>(type, std::ssize(numbers))));
  WriteEntry(type, numbers.data(), std::ssize(numbers), entry.data());
  return ReadEntry<T>(type, entry.data(), std::ssize(numbers));
}

TEST(CacheEntries, RoundToTheNearest) {
  const std::vector<float> numbers = {1, -2, 0.3F, 127, 1e-3F};
  EXPECT_EQ(Rounded(CacheType::unrounded, numbers), numbers);
  EXPECT_EQ(Rounded(CacheType::bfloat16, numbers), (std::vector<float>{1, -2, 0.30078125F, 127, 0x1.06p-10F}));
  EXPECT_EQ(Rounded(CacheType::int8, numbers), (std::vector<float>{1, -2, 0, 127, 0}));
  EXPECT_EQ(Rounded<double>(CacheType::bfloat16, {0.3}), std::vector<double>{0.30078125});
  EXPECT_EQ(Rounded(CacheType::int8, std::vector<float>(3)), std::vector<float>(3));
  // Halfway cases just above 1 round to even, and the largest float32 rounds to infinity.
  EXPECT_EQ(Rounded<float>(CacheType::bfloat16, {1 + 0x1p-8F, 1 + 3 * 0x1p-8F, std::numeric_limits<float>::max()}),
            (std::vector<float>{1, 1 + 4 * 0x1p-8F, std::numeric_limits<float>::infinity()}));
}

TEST(CacheEntries, KeepNaNs) {
  EXPECT_TRUE(std::isnan(Rounded<float>(CacheType::bfloat16, {1, std::bit_cast<float>(0x7f800001U)})[1]));
  EXPECT_TRUE(std::isnan(Rounded<float>(CacheType::int8, {1, NAN})[0]));
  EXPECT_TRUE(std::isnan(Rounded<float>(CacheType::int8, {1, INFINITY})[0]));
}

// Checks that attention over blocks of entries is bit-identical to attention over a matrix of the dequantized elements.
template <typename T>
void ExpectTheBitsOfWidenedRows(CacheType type, const AttentionCase& c) {
  AttentionProblem<T> p(c);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  const auto fill = [&](TestMatrix<T>& matrix, std::vector<std::unique_ptr<Line[]>>& memory,
                        std::vector<const std::byte*>& blocks) {
    const Matrix<T> rows = matrix.view();
    const std::int32_t heads = KeyHeadsOf(c);
    const std::int64_t dim = rows.columns / heads, entry = EntryBytes<T>(type, dim);
    for (std::int64_t row = 0; row < rows.rows; ++row) {
      if (row % kBlockRows == 0) {
        memory.push_back(std::make_unique_for_overwrite<Line[]>(
            static_cast<std::size_t>((kBlockRows * heads * entry + kBlockPadding + 63) / 64)));
        blocks.push_back(memory.back()[0].bytes);
      }
      for (std::int32_t head = 0; head < heads; ++head) {
        std::byte* const to = memory.back()[0].bytes + EntryOffset(row, head, entry);
        WriteEntry(type, rows.row(row) + head * dim, dim, to);
        const std::vector<T> numbers = ReadEntry<T>(type, to, dim);
        std::copy(numbers.begin(), numbers.end(), rows.row(row) + head * dim);
      }
    }
  };
  std::vector<std::unique_ptr<Line[]>> memory;
  std::vector<const std::byte*> keys, values;
  fill(p.key, memory, keys);
  fill(p.value, memory, values);

  p.Forward();
  const auto columns = static_cast<std::int32_t>(p.output.view().columns);
  const auto output_of = [&] {
    std::vector<T> numbers;
    for (std::int32_t row = 0; row < p.rows.query_rows; ++row)
      for (std::int32_t column = 0; column < columns; ++column) numbers.push_back(p.output.at(row, column));
    return numbers;
  };
  const auto weights_of = [&](std::size_t sequence) {
    std::vector<T> weights(static_cast<std::size_t>(c.heads * c.lengths[sequence].first * c.lengths[sequence].second));
    AttentionWeights<T>(p.input, static_cast<std::int32_t>(sequence), weights);
    return weights;
  };
  const std::vector<T> expected = output_of();
  std::vector<std::vector<T>> expected_weights;
  for (std::size_t sequence = 0; sequence < c.lengths.size(); ++sequence)
    expected_weights.push_back(weights_of(sequence));

  p.input.key.data = p.input.value.data = nullptr;
  p.input.key_blocks = keys;
  p.input.value_blocks = values;
  p.input.cache_type = type;
  p.log_sum_exp.clear();  // without the sums, heads that share keys are computed together
  for (const Sequence& rows : p.rows.queries)
    for (std::int32_t i = 0; i < rows.length; ++i) std::fill_n(p.output.view().row(rows.row(i)), columns, T{-1});
  p.Forward();
  EXPECT_EQ(output_of(), expected) << c.name << ", " << Name(type);
  for (std::size_t sequence = 0; sequence < c.lengths.size(); ++sequence)
    EXPECT_EQ(weights_of(sequence), expected_weights[sequence]) << c.name << ", " << Name(type);
}

TEST(CacheEntries, AttentionHasTheBitsOfDequantizedRowsOnEveryTarget) {
  ForEveryTarget([] {
    for (const CacheType type : {CacheType::unrounded, CacheType::bfloat16, CacheType::int8})
      for (const AttentionCase& c : {
               AttentionCase{.name = "few queries",
              .lengths = {{1, 33}, {2, 5}, {4, 130}},
              .heads = 2,
              .head_dim = 16,
              .value_dim = 16,
              .indexed = true},
               AttentionCase{.name = "four heads that share keys",
               .lengths = {{1, 130}, {1, 7}, {3, 40}},
               .heads = 4,
               .head_dim = 64,
               .value_dim = 64,
               .indexed = true,
               .key_heads = 1},
               AttentionCase{.name = "five heads that share keys",
               .lengths = {{1, 130}, {1, 7}, {3, 40}},
               .heads = 10,
               .head_dim = 12,
               .value_dim = 20,
               .causal = true,
               .indexed = true,
               .key_heads = 2,
               .mask = {.prefix = 9}},
               // The sequence is long enough that keys are copied.
               AttentionCase{.name = "many keys",
               .lengths = {{1, 70}, {2, 600}},
               .heads = 2,
               .head_dim = 12,
               .value_dim = 20,
               .causal = true,
               .indexed = true},
               AttentionCase{.name = "odd dimensions",
               .lengths = {{1, 33}, {20, 130}},
               .heads = 3,
               .head_dim = 5,
               .value_dim = 7,
               .causal = true,
               .indexed = true},
               AttentionCase{.name = "groups",
               .lengths = {{3, 70}, {70, 140}},
               .heads = 4,
               .head_dim = 80,
               .value_dim = 64,
               .causal = true,
               .indexed = true,
               .key_heads = 2},
               AttentionCase{.name = "capped",
               .lengths = {{1, 33}, {3, 600}, {20, 130}},
               .heads = 4,
               .head_dim = 12,
               .value_dim = 20,
               .causal = true,
               .indexed = true,
               .key_heads = 2,
               .score_cap = 0.8},
           }) {
        ExpectTheBitsOfWidenedRows<float>(type, c);
        ExpectTheBitsOfWidenedRows<double>(type, c);
      }
  });
}

}  // namespace
}  // namespace headlight::kernels::cache_entries_test
