#include "headlight/kernels/batched_product.h"

#include <algorithm>
#include <type_traits>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/transpose.h"

namespace headlight::kernels {
namespace {

// The total size in bytes of the panels that are multiplied together. The panels fit into half of a second-level cache.
constexpr std::int64_t kPanelBytes = 512 << 10;

// Computes one product on one thread. Packs a group of b's panels at a time and multiplies it by all rows of a.
template <typename T>
void Multiply(Matrix<const T> a, Matrix<const T> b, bool b_transposed, Matrix<T> c) {
  struct Panels;
  const std::int64_t depth = a.columns, panel = depth * kPanelColumns;
  const std::int64_t group = std::max<std::int64_t>(1, kPanelBytes / (panel * std::int64_t{sizeof(T)}));
  const std::int64_t columns = std::min(group * kPanelColumns, c.columns);
  T* const panels = KeptScratch<Panels, T>((columns + kPanelColumns - 1) / kPanelColumns * panel);
  for (std::int64_t first = 0; first < c.columns; first += columns) {
    const std::int64_t count = std::min(columns, c.columns - first);
    for (std::int64_t column = 0; column < count; column += kPanelColumns) {
      const std::int64_t begin = first + column, its = std::min(kPanelColumns, count - column);
      T* const to = panels + column / kPanelColumns * panel;
      if (!b_transposed) {
        PackPanel<T>(b.Columns(begin, its), /*transposed=*/false, to);
      } else {
        if (its < kPanelColumns) std::fill_n(to, panel, T{0});
        TransposeBlock<T>(b.Rows(begin, its), {to, depth, its, kPanelColumns});
      }
    }
    PanelProduct<T>(a, panels, c.Columns(first, count), {}, nullptr);
  }
}

void MultiplyBfloat16(Matrix<const float> a, Matrix<const float> b, bool b_transposed, Matrix<float> c) {
  struct Panels;
  struct Rows;
  const std::int64_t pairs = Bfloat16Pairs(a.columns), panel = pairs * kBfloat16Pair, stride = 2 * pairs;
  const std::int64_t group = std::max<std::int64_t>(1, kPanelBytes / (panel * std::int64_t{sizeof(std::uint16_t)}));
  const std::int64_t columns = std::min(group * kPanelColumns, c.columns);
  auto* const panels = KeptScratch<Panels, std::uint16_t>((columns + kPanelColumns - 1) / kPanelColumns * panel);
  auto* const rounded = KeptScratch<Rows, std::uint16_t>(a.rows * stride);
  RoundRows(a, rounded);
  for (std::int64_t first = 0; first < c.columns; first += columns) {
    const std::int64_t count = std::min(columns, c.columns - first);
    for (std::int64_t column = 0; column < count; column += kPanelColumns) {
      const std::int64_t begin = first + column, its = std::min(kPanelColumns, count - column);
      PackBfloat16Panel(b_transposed ? b.Rows(begin, its) : b.Columns(begin, its), b_transposed,
                        panels + column / kPanelColumns * panel);
    }
    Bfloat16Product({rounded, stride, 2, pairs}, panels, c.Columns(first, count), {}, nullptr);
  }
}

}  // namespace

template <typename T>
void BatchedProduct(Planes<const T> a, Planes<const T> b, Planes<T> c, Compute compute) {
  const std::int64_t depth = a.transposed ? a.rows : a.columns;
  Ensure(a.count == b.count && a.count == c.count && !c.transposed && (a.transposed ? a.columns : a.rows) == c.rows &&
             (b.transposed ? b.columns : b.rows) == depth && (b.transposed ? b.rows : b.columns) == c.columns,
         "BatchedProduct: {} x [{}, {}]{} times {} x [{}, {}]{} to {} x [{}, {}]", a.count, a.rows, a.columns,
         a.transposed ? "^T" : "", b.count, b.rows, b.columns, b.transposed ? "^T" : "", c.count, c.rows, c.columns);
  const double operations = 2.0 * static_cast<double>(c.count) * static_cast<double>(c.rows) *
                            static_cast<double>(c.columns) * static_cast<double>(depth);
  const Profiled profiled("batched product", operations, 0);
  ParallelFor(c.count, [&](std::int64_t plane) {
    Matrix<const T> left = a[plane];
    if (a.transposed) {
      struct Transposed;
      T* const transposed = KeptScratch<Transposed, T>(c.rows * depth);
      TransposeBlock<T>(left, {transposed, c.rows, depth, depth});
      left = {transposed, c.rows, depth, depth};
    }
    if constexpr (std::is_same_v<T, float>)
      if (compute == Compute::bfloat16) return MultiplyBfloat16(left, b[plane], b.transposed, c[plane]);
    Multiply<T>(left, b[plane], b.transposed, c[plane]);
  });
}

template void BatchedProduct(Planes<const float>, Planes<const float>, Planes<float>, Compute);
template void BatchedProduct(Planes<const double>, Planes<const double>, Planes<double>, Compute);

}  // namespace headlight::kernels
