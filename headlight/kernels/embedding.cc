#include "headlight/kernels/embedding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/embedding.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/dropout-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void EmbeddingChunk(const std::int32_t* ids, Matrix<const T> table, T scale, const std::int32_t* positions,
                    Matrix<const T> position_table, Dropout dropout, std::int64_t first_row, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  const auto scales = hn::Set(d, scale);
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const RowDropout drop(dropout, first_row + row);
    const T* const embedding = table.row(ids[row]);
    const T* const position = position_table.data ? position_table.row(positions[row]) : nullptr;
    T* const out = y.row(row);
    ForLanes(d, y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      auto element = hn::Mul(LoadLanes(d, embedding + column, lanes), scales);
      if (position) element = hn::Add(element, LoadLanes(d, position + column, lanes));
      StoreLanes(drop.Apply(d, element, column), d, out + column, lanes);
    });
  }
}

// Computes d_row += scale * dropout(d_y[row]).
template <typename T>
void EmbeddingGradientRow(Matrix<const T> d_y, std::int64_t row, T scale, Dropout dropout, T* d_row) {
  const hn::ScalableTag<T> d;
  const auto scales = hn::Set(d, scale);
  const RowDropout drop(dropout, row);
  const T* const d_out = d_y.row(row);
  ForLanes(d, d_y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
    const auto kept = drop.Apply(d, LoadLanes(d, d_out + column, lanes), column);
    StoreLanes(hn::MulAdd(kept, scales, LoadLanes(d, d_row + column, lanes)), d, d_row + column, lanes);
  });
}

HEADLIGHT_KERNEL(EmbeddingChunk);
HEADLIGHT_KERNEL(EmbeddingGradientRow);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {
namespace {

HEADLIGHT_EXPORT(EmbeddingChunk);
HEADLIGHT_EXPORT(EmbeddingGradientRow);

void CheckBelow(const char* what, std::span<const std::int32_t> ids, std::int64_t limit) {
  for (std::size_t row = 0; row < ids.size(); ++row) {
    Check(ids[row] >= 0 && ids[row] < limit, "embedding: the {} of row {} is {}, but the table has {}", what, row,
          ids[row], limit);
  }
}

}  // namespace

template <typename T>
void EmbeddingRows(std::span<const std::int32_t> ids, Matrix<const T> table, double scale,
                   std::span<const std::int32_t> positions, Matrix<const T> position_table, Dropout dropout,
                   Matrix<T> y) {
  Ensure(std::ssize(ids) == y.rows && (!position_table.data || std::ssize(positions) == y.rows),
         "EmbeddingRows: {} ids and {} positions for {} rows", ids.size(), positions.size(), y.rows);
  CheckBelow("id", ids, table.rows);
  if (position_table.data) CheckBelow("position", positions, position_table.rows);
  const Profiled profiled("embedding", 0, BytesOf(y, 2));
  const auto chunk = HEADLIGHT_DISPATCH(EmbeddingChunk, T);
  ForRowChunks(y.rows, y.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(ids.data() + first, table, static_cast<T>(scale), position_table.data ? positions.data() + first : nullptr,
          position_table, dropout, first, y.Rows(first, rows));
  });
}

template <typename T>
void EmbeddingRowsGradient(std::span<const std::int32_t> ids, Matrix<const T> d_y, double scale, Dropout dropout,
                           Matrix<T> d_table) {
  Ensure(std::ssize(ids) == d_y.rows, "EmbeddingRowsGradient: {} ids for {} rows", ids.size(), d_y.rows);
  CheckBelow("id", ids, d_table.rows);
  const Profiled profiled("embedding gradient", 0, BytesOf(d_y, 3));
  // A pair (id, row) is stored as one number. After sorting, the rows of an id are adjacent and in order, so that one
  // thread adds all of them.
  struct Uses;
  std::uint64_t* const uses = KeptScratch<Uses, std::uint64_t>(d_y.rows);
  for (std::size_t row = 0; row < ids.size(); ++row) uses[row] = std::uint64_t(ids[row]) << 32 | row;
  std::sort(uses, uses + ids.size());

  const auto add = HEADLIGHT_DISPATCH(EmbeddingGradientRow, T);
  const auto id_of = [&](std::int64_t use) { return static_cast<std::int64_t>(uses[use] >> 32); };
  ForRowChunks(d_y.rows, d_y.columns, [&](std::int64_t first, std::int64_t count) {
    std::int64_t use = first, end = first + count;
    while (use > 0 && use < end && id_of(use) == id_of(use - 1)) ++use;  // the previous chunk handles this id
    if (use == end) return;
    while (end < d_y.rows && id_of(end) == id_of(end - 1)) ++end;
    for (; use < end; ++use) {
      const auto row = static_cast<std::int64_t>(uses[use] & 0xFFFFFFFF);
      add(d_y, row, static_cast<T>(scale), dropout, d_table.row(id_of(use)));
    }
  });
}

#define HEADLIGHT_EMBEDDING(T)                                                                                       \
  template void EmbeddingRows(std::span<const std::int32_t>, Matrix<const T>, double, std::span<const std::int32_t>, \
                              Matrix<const T>, Dropout, Matrix<T>);                                                  \
  template void EmbeddingRowsGradient(std::span<const std::int32_t>, Matrix<const T>, double, Dropout, Matrix<T>)
HEADLIGHT_EMBEDDING(float);
HEADLIGHT_EMBEDDING(double);
#undef HEADLIGHT_EMBEDDING

}  // namespace headlight::kernels
#endif
