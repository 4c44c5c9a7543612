// The layout of a panel of a block type (kernels/block_product.h). Each run of the depth starts with 64 scales in half
// precision, then 64 minima in half precision if the type has minima. The groups follow. Each group has 64 scales and
// 64 minima, if the type has them, and then the codes. A quad consists of four adjacent elements of a column. The quads
// of the 64 columns are adjacent. The layout of the codes depends on their number of bits:
//   8 bits: a byte for each element.
//   4 bits: quads 2 p and 2 p + 1 of a group in the low and high bits of the same bytes.
//   5 bits: as for 4 bits, then 256 bytes in which bit q is bit 4 of quad q.
//   6 bits: as for 4 bits, then 256 bytes in which bits 2 q and 2 q + 1 are bits 4 and 5 of quad q.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headlight/kernels/blocks.h"
#include "headlight/kernels/panels.h"

namespace headlight::kernels {

inline constexpr int kQuad = 4;
inline constexpr int kQuadBytes = static_cast<int>(kPanelColumns) * kQuad;  ///< bytes of a quad of all columns

constexpr int HeaderBytes(const BlockLayout& layout) {
  return static_cast<int>(kPanelColumns * std::int64_t{sizeof(std::uint16_t)}) * (layout.mins ? 2 : 1);
}
constexpr int GroupHeaderBytes(const BlockLayout& layout) {
  return layout.scales ? static_cast<int>(kPanelColumns) * (layout.mins ? 2 : 1) : 0;
}
/// Returns the size in bytes of a group's codes, without the bytes for bits 4 and 5 of 5-bit and 6-bit codes.
constexpr int LowBytes(const BlockLayout& layout) {
  return layout.group / kQuad * kQuadBytes / (layout.bits == 8 ? 1 : 2);
}
constexpr int GroupBytes(const BlockLayout& layout) {
  return GroupHeaderBytes(layout) + LowBytes(layout) + (layout.bits == 5 || layout.bits == 6 ? kQuadBytes : 0);
}
constexpr int RunBytes(const BlockLayout& layout) {
  return HeaderBytes(layout) + layout.run / layout.group * GroupBytes(layout);
}
static_assert(LowBytes(LayoutOf(GgufType::q5_0)) / kQuadBytes == 4 && LayoutOf(GgufType::q6_k).group / kQuad == 4,
              "a plane of higher bits has room for the quads of a group");

}  // namespace headlight::kernels
