// Conversion to bfloat16 (the upper 16 bits of a float32, rounded to nearest, ties to even), and products of bfloat16
// values with float32 sums. Call these functions only if CpuHasBfloat16 (kernels/cpu.h) is true.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

/// Rounds `count` values to bfloat16.
void ToBfloat16(const float* from, std::int64_t count, std::uint16_t* to);

/// Returns the number of row pairs in a bfloat16 panel (kernels/panel_product.h). A panel consists of pairs of rows,
/// with a column's two elements adjacent: [pair][64][2].
constexpr std::int64_t Bfloat16Pairs(std::int64_t depth) { return (depth + 1) / 2; }
inline constexpr std::int64_t kBfloat16Pair = 2 * kPanelColumns;  ///< elements in a pair of rows

/// Rounds and packs `source`. Its columns, or its rows if `transposed` is true, become the columns of one panel.
void PackBfloat16Panel(Matrix<const float> source, bool transposed, std::uint16_t* panel);

/// Converts a column of a panel to float: `depth` elements.
void UnpackBfloat16Column(std::int64_t depth, const std::uint16_t* panel, std::int64_t column, float* numbers);

/// The left-hand side of a product: rows of adjacent pairs of elements.
struct Bfloat16Rows {
  const std::uint16_t* values = nullptr;
  std::ptrdiff_t row_stride = 0, pair_stride = 2;  ///< in elements
  std::int64_t pairs = 0;
};

/// Rounds each row to 2 * Bfloat16Pairs(a.columns) elements in `to`.
void RoundRows(Matrix<const float> a, std::uint16_t* to);

/// Rounds each column and writes it as a row of `to`: a.rows elements, zero-padded to a multiple of 32.
void RoundTransposed(Matrix<const float> a, std::uint16_t* to);

/// Computes c = a * b, with b in the adjacent panels at `panels` that cover c's columns. Batch-invariant: pairs are
/// summed in ascending order, with AMX in steps (kernels/amx.h). May prefetch the same number of panels at `next`,
/// unless it is null.
void Bfloat16Product(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c,
                     const Epilogue<float>& epilogue, const std::uint16_t* next);

/// Computes c += a^T b for a [rows, m], b [rows, n] and c [m, n].
void AddTransposedBfloat16(Matrix<const float> a, Matrix<const float> b, Matrix<float> c);
void AddTransposedBfloat16(Matrix<const float> a, const UnfoldedPart<float>& b, Matrix<float> c);

}  // namespace headlight::kernels
