// Floating-point products with panels, which are packed groups of columns of the right-hand side.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/kernels/panels.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

/// The epilogue of a product c: operations on its sums, in this order. Products in int8 add the bias before the matrix.
template <typename T>
struct Epilogue {
  Matrix<const T> added = {};  ///< has c's shape, or no data; c itself to accumulate
  const T* bias = nullptr;     ///< bias of c's columns, or null
  bool relu = false;

  /// Returns the epilogue of some rows or columns of c.
  Epilogue Rows(std::int64_t begin, std::int64_t count) const {
    Epilogue its = *this;
    if (added.data != nullptr) its.added = added.Rows(begin, count);
    return its;
  }
  Epilogue Columns(std::int64_t begin, std::int64_t count) const {
    Epilogue its = *this;
    if (added.data != nullptr) its.added = added.Columns(begin, count);
    if (bias != nullptr) its.bias += begin;
    return its;
  }
};

/// Packs the columns of `source`, or its rows if `transposed` is true, into a panel.
template <typename T>
void PackPanel(Matrix<const T> source, bool transposed, T* panel);

/// Computes c = a * b, with b in the adjacent panels at `panels` that cover c's columns. A tile of c keeps its rows of
/// a in the first-level cache while it iterates over the panels, which should fit into the second-level cache.
/// Batch-invariant: each element is one sum over the depth in ascending order. Prefetches the same number of panels at
/// `next`, unless it is null.
template <typename T>
void PanelProduct(Matrix<const T> a, const T* panels, Matrix<T> c, const Epilogue<T>& epilogue, const T* next);

/// Computes c += a^T b for a [rows, m], b [rows, n] and c [m, n].
template <typename T>
void AddTransposedProduct(Matrix<const T> a, Matrix<const T> b, Matrix<T> c);
template <typename T>
void AddTransposedProduct(Matrix<const T> a, const UnfoldedPart<T>& b, Matrix<T> c);

}  // namespace headlight::kernels
