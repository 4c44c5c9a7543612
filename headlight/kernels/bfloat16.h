// bfloat16: a float32 without its last 16 bits, rounded to nearest, ties to even; and products of it, whose sums are
// float32. Nothing here may be called unless CpuHasBfloat16 (kernels/cpu.h) is true.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

void ToBfloat16(const float* from, std::int64_t count, std::uint16_t* to);

// A panel (kernels/panel_product.h) in bfloat16: rows two by two, a column's two numbers side by side, [pair][64][2].
constexpr std::int64_t Bfloat16Pairs(std::int64_t depth) { return (depth + 1) / 2; }
inline constexpr std::int64_t kBfloat16Pair = 2 * kPanelColumns;  // numbers of a pair of rows

// Rounds `source`, which has the columns of one panel, or, where `transposed`, as many rows.
void PackBfloat16Panel(Matrix<const float> source, bool transposed, std::uint16_t* panel);

// The left-hand side of a product: rows whose numbers stand in pairs.
struct Bfloat16Rows {
  const std::uint16_t* values = nullptr;
  std::ptrdiff_t row_stride = 0, pair_stride = 2;  // numbers
  std::int64_t pairs = 0;
};

// The rows, rounded into `to`: 2 * Bfloat16Pairs(a.columns) numbers for each.
void RoundRows(Matrix<const float> a, std::uint16_t* to);

// The columns, rounded into rows of `to`: a.rows numbers for each, filled up with zeros to a multiple of 32.
void RoundTransposed(Matrix<const float> a, std::uint16_t* to);

// c = a * b, where b is the adjacent panels from `panels` on that cover c's columns; batch-invariant: pairs are summed
// in ascending order, by AMX in steps (kernels/amx.h). May prefetch as many panels from `next` on, unless it is null.
void Bfloat16Product(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c,
                     const Epilogue<float>& epilogue, const std::uint16_t* next);

// c += a^T b: a [rows, m], b [rows, n], c [m, n].
void AddTransposedBfloat16(Matrix<const float> a, Matrix<const float> b, Matrix<float> c);
void AddTransposedBfloat16(Matrix<const float> a, const UnfoldedPart<float>& b, Matrix<float> c);

}  // namespace headlight::kernels
