// Products of small matrices in the cache, and their packing. Included once per target, after hwy/highway.h. Packed
// rows are padded to whole vectors, so that products have no tail.
#if defined(HEADLIGHT_KERNELS_TILE_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_TILE_PRODUCT_INL_H_
#undef HEADLIGHT_KERNELS_TILE_PRODUCT_INL_H_
#else
#define HEADLIGHT_KERNELS_TILE_PRODUCT_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "headlight/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The size of the block of the product that is kept in registers. The vectors of b and one number of a need registers,
// too. AVX2 has 16 registers, and other targets have 32. With long sequences, products reach 75% (AVX2) to 85%
// (AVX-512) of the peak.
constexpr std::int32_t kProductRows = HWY_TARGET == HWY_AVX2 ? 6 : 8;
constexpr std::int32_t kProductVectors = 2;

// Describes the product c = a b or, if `add` is true, c += a b. a is [rows, inner] or, if transposed, stored as [inner,
// rows].
template <typename T>
struct TileProduct {
  const T* a;
  std::ptrdiff_t a_stride;
  const T* b;  // [inner, columns], aligned, in whole vectors
  std::ptrdiff_t b_stride;
  T* c;  // [rows, columns], aligned, in whole vectors
  std::ptrdiff_t c_stride;
  std::int32_t inner;
  bool add;
};

template <std::int32_t rows, std::int32_t vectors, bool transposed, typename T>
HWY_NOINLINE void ProductBlock(const TileProduct<T>& p, std::ptrdiff_t row, std::ptrdiff_t column) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const std::ptrdiff_t a_row = transposed ? 1 : p.a_stride, a_inner = transposed ? p.a_stride : 1;
  const T* a = p.a + row * a_row;
  const T* b = p.b + column;
  T* c = p.c + row * p.c_stride + column;

  hn::Vec<decltype(d)> sum[rows][vectors];
#pragma GCC unroll 8
  for (std::int32_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (std::int32_t v = 0; v < vectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (std::int32_t k = 0; k < p.inner; ++k, a += a_inner, b += p.b_stride) {
    hn::Vec<decltype(d)> b_row[vectors];
    for (std::int32_t v = 0; v < vectors; ++v) b_row[v] = hn::Load(d, b + v * lanes);
#pragma GCC unroll 8
    for (std::int32_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(d, a[r * a_row]);
      for (std::int32_t v = 0; v < vectors; ++v) sum[r][v] = hn::MulAdd(factor, b_row[v], sum[r][v]);
    }
  }
  const bool add = p.add;
  const std::ptrdiff_t c_stride = p.c_stride;
#pragma GCC unroll 8
  for (std::int32_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (std::int32_t v = 0; v < vectors; ++v) {
      T* const to = c + r * c_stride + v * lanes;
      hn::Store(add ? hn::Add(sum[r][v], hn::Load(d, to)) : sum[r][v], d, to);
    }
  }
}

template <std::int32_t most_rows, std::int32_t vectors, bool transposed, typename T>
HWY_INLINE void ProductBlockOf(std::int32_t rows, const TileProduct<T>& p, std::ptrdiff_t row, std::ptrdiff_t column) {
  if constexpr (most_rows > 1) {
    if (rows < most_rows) return ProductBlockOf<most_rows - 1, vectors, transposed>(rows, p, row, column);
  }
  ProductBlock<most_rows, vectors, transposed>(p, row, column);
}

// Computes the whole product; `columns` must be a multiple of a vector. Each element is summed over `inner` in
// ascending order. Its bits therefore do not depend on the division of rows into tiles and blocks.
template <bool transposed, typename T>
void Product(const TileProduct<T>& p, std::int32_t rows, std::int32_t columns) {
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(hn::ScalableTag<T>()));
  const std::int32_t blocks = (rows + kProductRows - 1) / kProductRows;
  std::int32_t column = 0;
  for (; column + kProductVectors * lanes <= columns; column += kProductVectors * lanes) {
    for (std::int32_t block = 0; block < blocks; ++block) {  // similar heights: 9 rows become 5 and 4, not 8 and 1
      const std::int32_t row = rows * block / blocks, end = rows * (block + 1) / blocks;
      ProductBlockOf<kProductRows, kProductVectors, transposed>(end - row, p, row, column);
    }
  }
  for (; column < columns; column += lanes) {
    for (std::int32_t block = 0; block < blocks; ++block) {
      const std::int32_t row = rows * block / blocks, end = rows * (block + 1) / blocks;
      ProductBlockOf<kProductRows, 1, transposed>(end - row, p, row, column);
    }
  }
}

// Prefetches the elements after the row. These elements belong to the next head of the same row or, in a cache, to the
// next row of the head. Prefetching saves 5% of the time if the elements are not in the cache.
template <typename T>
HWY_INLINE void PrefetchNextHead(const T* row, std::int32_t dim) {
  constexpr std::int32_t line = 64 / sizeof(T);
  for (std::int32_t column = dim; column < 2 * dim; column += line) hwy::Prefetch(row + column);
}

// Packs the first `dim` elements of rows first, first + 1, ... into to[count, whole vectors], followed by zeros.
template <typename T, class Rows>
void PackRows(const Rows& from, std::int32_t first, std::int32_t count, std::int32_t dim, T* to,
              std::ptrdiff_t stride) {
  const hn::ScalableTag<T> d;
  for (std::int32_t i = 0; i < count; ++i, to += stride) {
    const T* const row = from.row(first + i);
    PrefetchNextHead(row, dim);
    ForLanes(d, dim, [&](std::int64_t column, auto lanes) HWY_ATTR {
      hn::Store(LoadLanes(d, row + column, lanes), d, to + column);
    });
  }
}

#if HWY_TARGET != HWY_SCALAR
// Loads and transposes four columns of as many rows as a vector has lanes: columns[i] has element i of every row.
template <class D, std::size_t lanes>
HWY_INLINE void LoadTransposed(D d, const float* const (&row)[lanes], std::int32_t at, hn::Vec<D> (&columns)[4]) {
  const auto load = [&](std::int32_t i) HWY_ATTR {  // row i of each block of four
    const hn::FixedTag<float, 4> block;
    const float* const* const from = row + i;
    if constexpr (lanes == 4) {
      return hn::LoadU(block, from[0] + at);
    } else if constexpr (lanes == 8) {
      return hn::Combine(d, hn::LoadU(block, from[4] + at), hn::LoadU(block, from[0] + at));
    } else {
      const hn::Half<D> half;
      return hn::Combine(d, hn::Combine(half, hn::LoadU(block, from[12] + at), hn::LoadU(block, from[8] + at)),
                         hn::Combine(half, hn::LoadU(block, from[4] + at), hn::LoadU(block, from[0] + at)));
    }
  };
  const hn::Repartition<double, D> pairs;
  const auto row0 = load(0), row1 = load(1), row2 = load(2), row3 = load(3);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  columns[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  columns[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  columns[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  columns[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}
#endif

// Calls step(column, group, elements of the column) for the columns of groups of rows. A group has as many rows as a
// vector has lanes. The columns of a group are in ascending order.
template <std::int32_t groups, class D, std::size_t lanes, class Step>
HWY_INLINE void ForColumns(D d, const float* const (&row)[groups][lanes], std::int32_t columns, const Step& step) {
  std::int32_t whole = 0;
#if HWY_TARGET != HWY_SCALAR
  // Alternates between groups so that their chains of additions overlap. It does not alternate in each column, because
  // only the addresses of one group's rows fit into registers.
  constexpr std::int32_t at_once = 16;
  whole = columns / 4 * 4;
  for (std::int32_t first = 0; first < whole; first += at_once)
    for (std::int32_t group = 0; group < groups; ++group)
      for (std::int32_t at = first; at < std::min(first + at_once, whole); at += 4) {
        hn::Vec<D> transposed[4];
        LoadTransposed(d, row[group], at, transposed);
        for (std::int32_t i = 0; i < 4; ++i) step(at + i, group, transposed[i]);
      }
#endif
  for (std::int32_t at = whole; at < columns; ++at)
    for (std::int32_t group = 0; group < groups; ++group) {
      HWY_ALIGN float column[lanes];
      for (std::size_t lane = 0; lane < lanes; ++lane) column[lane] = row[group][lane][at];
      step(at, group, hn::Load(d, column));
    }
}

// Packs the transpose of the result of PackRows into to[dim, columns]. Columns at or after `count`, up to whole
// vectors, repeat the last row.
template <typename T, class Rows>
void PackTransposed(const Rows& from, std::int32_t first, std::int32_t count, std::int32_t dim, T* to,
                    std::int32_t columns) {
  const auto row_of = [&](std::int32_t column) { return from.row(first + std::min(column, count - 1)); };
  if constexpr (sizeof(T) == 4) {  // only float must be fast
    const hn::ScalableTag<T> d;
    constexpr std::int32_t lanes = hn::MaxLanes(d);
    for (std::int32_t i = 0; i < columns; i += lanes) {
      const T* row[1][lanes];
      for (std::int32_t lane = 0; lane < lanes; ++lane) row[0][lane] = row_of(i + lane);
      ForColumns<1>(d, row, dim, [&](std::int32_t j, std::int32_t, auto column) HWY_ATTR {
        hn::Store(column, d, to + j * columns + i);
      });
    }
  } else {
    for (std::int32_t i = 0; i < columns; ++i) {
      const T* const row = row_of(i);
      for (std::int32_t j = 0; j < dim; ++j) to[j * columns + i] = row[j];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif
