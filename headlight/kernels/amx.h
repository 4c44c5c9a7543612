// Products with Intel AMX, which has eight tile registers of 16 rows of 64 bytes. Its instructions add the product of
// two tiles to a third tile. Used by kernels/bfloat16.cc and kernels/int8.cc. Call these functions only if MayUseAmx
// (kernels/cpu.h) is true.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headlight::kernels {

inline constexpr std::int64_t kAmxRows = 32;   ///< number of result rows that are accumulated together: two tiles
inline constexpr std::int64_t kAmxUnits = 16;  ///< number of units of the depth per step: one tile of each operand
/// Returns the number of columns that are accumulated together with `rows` rows: four tiles in total.
constexpr std::int64_t AmxColumns(std::int64_t rows) { return rows > kAmxRows / 2 ? 32 : 64; }

/// A block of a product. Its operands are in units of 4 bytes: two bfloat16 elements or four int8 elements.
struct AmxBlock {
  const void* a = nullptr;
  std::ptrdiff_t row_stride = 0, step_stride = kAmxUnits * 4;  ///< bytes
  std::int64_t rows = 0, units = 0;                            ///< the number of rows is at most kAmxRows
  const void* b = nullptr;         ///< the block's first column in a panel, [units][kPanelColumns], zero-padded
  const void* from = nullptr;      ///< initial values of the sums; null for zeros
  std::ptrdiff_t from_stride = 0;  ///< bytes
  void* to = nullptr;              ///< AmxColumns(rows) columns: floats for bfloat16, 32-bit integers for int8
  std::ptrdiff_t to_stride = 0;    ///< bytes
};

/// Adds the product of a block. The tiles must be configured for the block's number of rows. Batch-invariant: the sums
/// of a row do not depend on the other rows. In bfloat16, the even and odd elements of a step are summed separately.
void AmxMultiplyBfloat16(const AmxBlock& block);
void AmxMultiplyInt8(const AmxBlock& block);

/// Configures this thread's tiles for blocks of `rows` rows; 0 releases the tiles. A call takes a tenth of a
/// microsecond.
void AmxConfigure(std::int64_t rows);

/// Calls body(first row, rows) for blocks that cover all rows.
template <class Body>
void ForAmxBlocks(std::int64_t rows, const Body& body) {
  std::int64_t configured = 0;
  for (std::int64_t row = 0; row < rows; row += kAmxRows) {
    const std::int64_t its_rows = std::min(kAmxRows, rows - row);
    if (its_rows != configured) AmxConfigure(configured = its_rows);
    body(row, its_rows);
  }
  AmxConfigure(0);
}

}  // namespace headlight::kernels
