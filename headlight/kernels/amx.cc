#include "headlight/kernels/amx.h"

#include "headlight/base/error.h"
#include "headlight/kernels/panels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>

#include <cstring>

namespace headlight::kernels {
namespace {

#define HEADLIGHT_AMX __attribute__((target("amx-tile,amx-bf16,amx-int8,avx512f")))

constexpr std::int64_t kTile = 16, kLine = 64;          // rows of a tile, and bytes per row
constexpr std::ptrdiff_t kUnitRow = kPanelColumns * 4;  // bytes of a row of b
constexpr std::int64_t kUnitBytes = 4;

// Declares that memory is read. g++'s intrinsics do not declare this, so a call must precede each load of a tile.
inline void ReadsMemory(const void* memory) { asm volatile("" ::"r"(memory) : "memory"); }

// Adds the product of one step to the sums. Tiles 0 to 3 hold the sums, and the other tiles hold the operands.
template <bool integers, bool two>
HEADLIGHT_AMX __attribute__((always_inline)) inline void AddStep(const std::byte* a, std::ptrdiff_t row_stride,
                                                                 const std::byte* b) {
  _tile_loadd(4, a, row_stride);
  if constexpr (two) {
    _tile_loadd(6, b, kUnitRow);
    _tile_loadd(7, b + kLine, kUnitRow);
    _tile_loadd(5, a + kTile * row_stride, row_stride);
    if constexpr (integers) {
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(1, 4, 7);
      _tile_dpbssd(2, 5, 6);
      _tile_dpbssd(3, 5, 7);
    } else {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  } else {
    _tile_loadd(5, b, kUnitRow);
    _tile_loadd(6, b + kLine, kUnitRow);
    _tile_loadd(7, b + 2 * kLine, kUnitRow);
    if constexpr (integers) {
      _tile_dpbssd(0, 4, 5);
      _tile_loadd(5, b + 3 * kLine, kUnitRow);
      _tile_dpbssd(1, 4, 6);
      _tile_dpbssd(2, 4, 7);
      _tile_dpbssd(3, 4, 5);
    } else {
      _tile_dpbf16ps(0, 4, 5);
      _tile_loadd(5, b + 3 * kLine, kUnitRow);
      _tile_dpbf16ps(1, 4, 6);
      _tile_dpbf16ps(2, 4, 7);
      _tile_dpbf16ps(3, 4, 5);
    }
  }
}

template <bool integers, bool two>
HEADLIGHT_AMX void Multiply(const AmxBlock& block) {
  // Tiles 1 and 3 of the sums are to the right of tiles 0 and 2. With two tiles of rows, tiles 2 and 3 are below tiles
  // 0 and 1. Otherwise all four tiles are in one row.
  const std::ptrdiff_t below_from = two ? kTile * block.from_stride : 2 * kLine;
  const std::ptrdiff_t below_to = two ? kTile * block.to_stride : 2 * kLine;
  if (block.from == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    const auto* const from = static_cast<const std::byte*>(block.from);
    _tile_loadd(0, from, block.from_stride);
    _tile_loadd(1, from + kLine, block.from_stride);
    _tile_loadd(2, from + below_from, block.from_stride);
    _tile_loadd(3, from + below_from + kLine, block.from_stride);
  }
  const auto *a = static_cast<const std::byte*>(block.a), *b = static_cast<const std::byte*>(block.b);
  for (std::int64_t step = block.units / kAmxUnits; step != 0; --step) {
    AddStep<integers, two>(a, block.row_stride, b);
    a += block.step_stride;
    b += kAmxUnits * kUnitRow;
  }
  if (const std::int64_t rest = block.units % kAmxUnits; rest != 0) {  // the last step is zero-padded
    alignas(kLine) std::byte last_a[kAmxRows][kLine] = {}, last_b[kAmxUnits][kUnitRow] = {};
    for (std::int64_t row = 0; row < block.rows; ++row)
      std::memcpy(last_a[row], a + row * block.row_stride, static_cast<std::size_t>(rest * kUnitBytes));
    for (std::int64_t unit = 0; unit < rest; ++unit)
      std::memcpy(last_b[unit], b + unit * kUnitRow, static_cast<std::size_t>(AmxColumns(block.rows) * kUnitBytes));
    ReadsMemory(last_a);
    ReadsMemory(last_b);
    AddStep<integers, two>(last_a[0], kLine, last_b[0]);
  }
  auto* const to = static_cast<std::byte*>(block.to);
  _tile_stored(0, to, block.to_stride);
  _tile_stored(1, to + kLine, block.to_stride);
  _tile_stored(2, to + below_to, block.to_stride);
  _tile_stored(3, to + below_to + kLine, block.to_stride);
}

}  // namespace

HEADLIGHT_AMX void AmxConfigure(std::int64_t rows) {
  if (rows == 0) return _tile_release();
  struct {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
  } layout;
  static_assert(sizeof(layout) == 64);
  const auto first = static_cast<std::uint8_t>(std::min(rows, kTile));
  const auto second = static_cast<std::uint8_t>(rows - first);
  for (int tile = 0; tile < 8; ++tile) {
    layout.row_bytes[tile] = kLine;
    layout.rows[tile] = tile >= 6 ? kTile : first;
  }
  if (second != 0) layout.rows[2] = layout.rows[3] = second;
  layout.rows[5] = second != 0 ? second : static_cast<std::uint8_t>(kTile);
  ReadsMemory(&layout);
  _tile_loadconfig(&layout);
}

void AmxMultiplyBfloat16(const AmxBlock& block) {
  block.rows > kTile ? Multiply<false, true>(block) : Multiply<false, false>(block);
}

void AmxMultiplyInt8(const AmxBlock& block) {
  block.rows > kTile ? Multiply<true, true>(block) : Multiply<true, false>(block);
}

}  // namespace headlight::kernels

#else

namespace headlight::kernels {

void AmxConfigure(std::int64_t) { Ensure(false, "AMX on a processor without it"); }
void AmxMultiplyBfloat16(const AmxBlock&) { AmxConfigure(0); }
void AmxMultiplyInt8(const AmxBlock&) { AmxConfigure(0); }

}  // namespace headlight::kernels
#endif
