#include "headlight/kernels/gate.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/gate.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void GateChunk(Matrix<const T> x, Matrix<const T> gate, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const T *const in = x.row(row), *const gates = gate.row(row);
    T* const out = y.row(row);
    ForLanes(d, y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto open = SigmoidOf(d, LoadLanes(d, gates + column, lanes));
      StoreLanes(hn::Mul(LoadLanes(d, in + column, lanes), open), d, out + column, lanes);
    });
  }
}

template <typename T>
void GateGradientChunk(Matrix<const T> x, Matrix<const T> gate, Matrix<const T> d_y, Matrix<T> d_x, Matrix<T> d_gate) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  for (std::int64_t row = 0; row < d_y.rows; ++row) {
    const T *const in = x.row(row), *const gates = gate.row(row), *const d_out = d_y.row(row);
    T *const to_x = d_x.row(row), *const to_gate = d_gate.row(row);
    ForLanes(d, d_y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto open = SigmoidOf(d, LoadLanes(d, gates + column, lanes));
      const auto d_in = hn::Mul(LoadLanes(d, d_out + column, lanes), open);
      const auto d_gates = hn::Mul(hn::Mul(d_in, LoadLanes(d, in + column, lanes)), hn::Sub(one, open));
      StoreLanes(d_in, d, to_x + column, lanes);
      StoreLanes(d_gates, d, to_gate + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(GateChunk);
HEADLIGHT_KERNEL(GateGradientChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(GateChunk);
HEADLIGHT_EXPORT(GateGradientChunk);

namespace {

template <typename T>
void CheckGate(Matrix<const T> x, Matrix<const T> gate, Matrix<const T> y, bool transposed) {
  Ensure(x.rows == gate.rows && x.columns == gate.columns && (transposed ? y.columns : y.rows) == gate.rows &&
             (transposed ? y.rows : y.columns) == gate.columns,
         "a gate of [{}, {}] for [{}, {}] to [{}, {}]", gate.rows, gate.columns, x.rows, x.columns, y.rows, y.columns);
}

constexpr std::int64_t kTransposedRows = 64;  // number of rows that are gated and transposed together in the cache

// Calls body(first row, rows, scratch of [rows, columns]) for chunks of the rows, in parallel.
template <typename T, class Body>
void ForTransposedRows(std::int64_t rows, std::int64_t columns, const Body& body) {
  ParallelFor((rows + kTransposedRows - 1) / kTransposedRows, [&](std::int64_t index) {
    struct Gated;
    const std::int64_t first = index * kTransposedRows, count = std::min(kTransposedRows, rows - first);
    body(first, count, Matrix<T>{KeptScratch<Gated, T>(count * columns), count, columns, columns});
  });
}

}  // namespace

template <typename T>
void GateRows(Matrix<const T> x, Matrix<const T> gate, Matrix<T> y) {
  CheckGate<T>(x, gate, y, /*transposed=*/false);
  const Profiled profiled("gate", 0, BytesOf(y, 3));
  const auto chunk = HEADLIGHT_DISPATCH(GateChunk, T);
  ForRowChunks(y.rows, y.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), gate.Rows(first, rows), y.Rows(first, rows));
  });
}

template <typename T>
void GateRowsGradient(Matrix<const T> x, Matrix<const T> gate, Matrix<const T> d_y, Matrix<T> d_x, Matrix<T> d_gate) {
  CheckGate<T>(x, gate, d_y, /*transposed=*/false);
  const Profiled profiled("gate gradient", 0, BytesOf(d_y, 5));
  const auto chunk = HEADLIGHT_DISPATCH(GateGradientChunk, T);
  ForRowChunks(d_y.rows, d_y.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), gate.Rows(first, rows), d_y.Rows(first, rows), d_x.Rows(first, rows),
          d_gate.Rows(first, rows));
  });
}

template <typename T>
void GateTransposed(Matrix<const T> x, Matrix<const T> gate, Matrix<T> y) {
  CheckGate<T>(x, gate, y, /*transposed=*/true);
  const Profiled profiled("gate", 0, BytesOf(y, 3));
  const auto chunk = HEADLIGHT_DISPATCH(GateChunk, T);
  ForTransposedRows<T>(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows, Matrix<T> gated) {
    chunk(x.Rows(first, rows), gate.Rows(first, rows), gated);
    TransposeBlock<T>(gated, y.Columns(first, rows));
  });
}

template <typename T>
void GateTransposedGradient(Matrix<const T> x, Matrix<const T> gate, Matrix<const T> d_y, Matrix<T> d_x,
                            Matrix<T> d_gate) {
  CheckGate<T>(x, gate, d_y, /*transposed=*/true);
  const Profiled profiled("gate gradient", 0, BytesOf(d_y, 5));
  const auto chunk = HEADLIGHT_DISPATCH(GateGradientChunk, T);
  ForTransposedRows<T>(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows, Matrix<T> turned) {
    TransposeBlock<T>(d_y.Columns(first, rows), turned);
    chunk(x.Rows(first, rows), gate.Rows(first, rows), turned, d_x.Rows(first, rows), d_gate.Rows(first, rows));
  });
}

#define HEADLIGHT_GATE(T)                                                                                  \
  template void GateRows(Matrix<const T>, Matrix<const T>, Matrix<T>);                                     \
  template void GateRowsGradient(Matrix<const T>, Matrix<const T>, Matrix<const T>, Matrix<T>, Matrix<T>); \
  template void GateTransposed(Matrix<const T>, Matrix<const T>, Matrix<T>);                               \
  template void GateTransposedGradient(Matrix<const T>, Matrix<const T>, Matrix<const T>, Matrix<T>, Matrix<T>)
HEADLIGHT_GATE(float);
HEADLIGHT_GATE(double);
#undef HEADLIGHT_GATE

}  // namespace headlight::kernels
#endif
