#include "headlight/kernels/bfloat16.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "headlight/base/parallel.h"
#include "headlight/base/storage.h"

namespace headlight::kernels {

// Highway 1.0 knows neither rounding to bfloat16 nor products of it, hence the instructions themselves.
#define HEADLIGHT_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace {

// A matrix in the order in which a sum over its rows reads it: panels of 64 columns, in each of them two rows after
// two, a column's two numbers side by side. What is missing of the last panel and the last two rows is zeros.
class RowPairs {
 public:
  explicit RowPairs(Matrix<const float> source) : pairs_((source.rows + 1) / 2) {
    const std::int64_t panels = (source.columns + kColumns - 1) / kColumns;
    storage_ = AllocateStorage(panels * pairs_ * kPairBytes);
    constexpr std::int64_t block = 64;  // pairs
    const std::int64_t blocks = (pairs_ + block - 1) / block;
    ParallelFor(panels * blocks, [&](std::int64_t index) {
      const std::int64_t panel = index / blocks, first = index % blocks * block;
      for (std::int64_t pair = first; pair < std::min(pairs_, first + block); ++pair)
        RoundPair(source, 2 * pair, panel * kColumns, At(panel, pair));
    });
  }

  static constexpr std::int64_t kColumns = 64;         // of a panel
  static constexpr std::int64_t kPair = 2 * kColumns;  // numbers
  static constexpr std::int64_t kPairBytes = kPair * sizeof(std::uint16_t);

  std::int64_t pairs() const { return pairs_; }
  std::uint16_t* At(std::int64_t panel, std::int64_t pair) const {
    return reinterpret_cast<std::uint16_t*>(storage_.get()) + (panel * pairs_ + pair) * kPair;
  }

 private:
  HEADLIGHT_BF16 static void RoundPair(Matrix<const float> source, std::int64_t row, std::int64_t column,
                                       std::uint16_t* to) {
    for (std::int64_t begin = 0; begin < kColumns; begin += 16) {
      const std::int64_t columns = std::clamp<std::int64_t>(source.columns - column - begin, 0, 16);
      const auto live = static_cast<__mmask16>((1U << columns) - 1);
      const auto rounded = [&](std::int64_t index) HEADLIGHT_BF16 {
        const __mmask16 mask = index < source.rows ? live : __mmask16{0};
        return _mm512_maskz_cvtepu16_epi32(kAll, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(
                                                     mask, source.data + index * source.stride + column + begin))));
      };
      const __m512i both = _mm512_or_si512(rounded(row), _mm512_maskz_slli_epi32(kAll, rounded(row + 1), 16));
      _mm512_storeu_si512(to + 2 * begin, both);
    }
  }

  // The forms without a mask warn, in g++ 12, of what they leave undefined.
  static constexpr __mmask16 kAll = 0xffff;

  std::int64_t pairs_;
  std::shared_ptr<std::byte> storage_;
};

// c[rows, columns] += the sum over pairs of a's columns from a's first on times b's panel.
template <int rows>
HEADLIGHT_BF16 void SumTile(const std::uint16_t* a, const std::uint16_t* b, std::int64_t pairs, Matrix<float> c) {
  constexpr int vectors = 4;  // of 16 columns
  __m512 sums[rows][vectors];
#pragma GCC unroll 8
  for (auto& row : sums)
    for (__m512& sum : row) sum = _mm512_setzero_ps();
  for (std::int64_t pair = 0; pair < pairs; ++pair, a += RowPairs::kPair, b += RowPairs::kPair) {
    __m512bh right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + v * 32));
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) {
      std::int32_t two;
      std::memcpy(&two, a + 2 * row, sizeof(two));
      const auto left = reinterpret_cast<__m512bh>(_mm512_set1_epi32(two));
      for (int v = 0; v < vectors; ++v) sums[row][v] = _mm512_dpbf16_ps(sums[row][v], left, right[v]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row)
    for (int v = 0; v < vectors; ++v) {
      const std::int64_t columns = std::clamp<std::int64_t>(c.columns - v * 16, 0, 16);
      const auto live = static_cast<__mmask16>((1U << columns) - 1);
      float* to = c.row(row) + v * 16;
      _mm512_mask_storeu_ps(to, live, _mm512_add_ps(_mm512_maskz_loadu_ps(live, to), sums[row][v]));
    }
}

using Tile = void (*)(const std::uint16_t* a, const std::uint16_t* b, std::int64_t pairs, Matrix<float> c);
// Six rows of four vectors of sums leave eight registers of 32 for the factors.
constexpr std::array<Tile, 6> kTiles = {SumTile<1>, SumTile<2>, SumTile<3>, SumTile<4>, SumTile<5>, SumTile<6>};

}  // namespace

void GemmTransposedBfloat16(Matrix<const float> a, Matrix<const float> b, Matrix<float> c) {
  const RowPairs left(a), right(b);
  constexpr std::int64_t side = RowPairs::kColumns;
  constexpr std::int64_t depth = 512;  // pairs, of which a panel of each factor fits in the second-level cache
  const std::int64_t down = (c.rows + side - 1) / side, across = (c.columns + side - 1) / side;
  ParallelFor(down * across, [&](std::int64_t index) {
    const std::int64_t row_panel = index / across, column_panel = index % across;
    const std::int64_t rows = std::min(side, c.rows - row_panel * side);
    const std::int64_t columns = std::min(side, c.columns - column_panel * side);
    const Matrix<float> block = c.Rows(row_panel * side, rows).Columns(column_panel * side, columns);
    for (std::int64_t begin = 0; begin < left.pairs(); begin += depth) {
      const std::int64_t pairs = std::min(depth, left.pairs() - begin);
      for (std::int64_t row = 0; row < rows;) {
        const std::int64_t count = std::min<std::int64_t>(static_cast<std::int64_t>(kTiles.size()), rows - row);
        kTiles[static_cast<std::size_t>(count - 1)](left.At(row_panel, begin) + 2 * row, right.At(column_panel, begin),
                                                    pairs, block.Rows(row, count));
        row += count;
      }
    }
  });
}

HEADLIGHT_BF16 void ToBfloat16(const float* from, std::int64_t count, std::uint16_t* to) {
  constexpr std::int64_t lanes = 16;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_loadu_ps(from + i))));
  if (i == count) return;
  const auto rest = static_cast<__mmask16>((1U << (count - i)) - 1);
  _mm256_mask_storeu_epi16(to + i, rest,
                           reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, from + i))));
}

bool CpuHasBfloat16() {
  static const bool has =
      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return has;
}

}  // namespace headlight::kernels
