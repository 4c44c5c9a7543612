// The block types of GGUF: runs of 32 or 256 elements with common scales. ggml-common.h in llama.cpp describes these
// types. Here, all types are cases of one formula.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight::kernels {

/// Describes how a block type stores its elements. Element i of a run is
///   scale * scales[i / group] * (codes[i] - offset) - min * mins[i / group],
/// with kBlockLevels[codes[i]] instead of codes[i] - offset if `levels` is set.
struct BlockLayout {
  int run = 32;         ///< number of values that share `scale` and `min`, which are in half precision
  int group = 32;       ///< number of values that share an item of `scales` and `mins`
  int bits = 4;         ///< number of bits of a code in a packed panel; a file may use fewer
  int offset = 0;       ///< the code of the number 0
  bool scales = false;  ///< if true, groups have 8-bit scales; otherwise `scales` are 1
  bool mins = false;    ///< if true, there are minima; groups have their own minima only if they have scales
  bool levels = false;  ///< if true, a code is an index into kBlockLevels

  bool operator==(const BlockLayout&) const = default;
};

/// Returns the layout of a block type. Other types are an internal error.
constexpr BlockLayout LayoutOf(GgufType type) {
  switch (type) {
    case GgufType::q4_0:
      return {.offset = 8};
    case GgufType::q4_1:
      return {.mins = true};
    case GgufType::q5_0:
      return {.bits = 5, .offset = 16};
    case GgufType::q5_1:
      return {.bits = 5, .mins = true};
    case GgufType::q8_0:
      return {.bits = 8, .offset = 128};
    case GgufType::q2_k:
      return {.run = 256, .group = 16, .scales = true, .mins = true};
    case GgufType::q3_k:
      return {.run = 256, .group = 16, .offset = 4, .scales = true};
    case GgufType::q4_k:
      return {.run = 256, .scales = true, .mins = true};
    case GgufType::q5_k:
      return {.run = 256, .bits = 5, .scales = true, .mins = true};
    case GgufType::q6_k:
      return {.run = 256, .group = 16, .bits = 6, .offset = 32, .scales = true};
    case GgufType::iq4_nl:
      return {.levels = true};
    case GgufType::iq4_xs:
      return {.run = 256, .scales = true, .levels = true};
    case GgufType::f32:
    case GgufType::f16:
    case GgufType::bf16:
      break;
  }
  return {.run = 0};
}
constexpr bool IsBlockType(GgufType type) { return LayoutOf(type).run != 0; }

/// The levels of IQ4_NL and IQ4_XS.
inline constexpr std::array<std::int8_t, 16> kBlockLevels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                             1,    13,   25,  38,  53,  69,  89,  113};

inline constexpr int kLongestRun = 256, kMostGroups = 16;

/// The unpacked fields of a block, as described by BlockLayout.
struct Block {
  std::array<std::uint8_t, kLongestRun> codes;
  std::array<std::int8_t, kMostGroups> scales;
  std::array<std::uint8_t, kMostGroups> mins;
  std::uint16_t scale, min;  ///< half precision
};
Block SplitBlock(GgufType type, const std::byte* block);

/// Writes the elements of the block, computed in llama.cpp's order of operations.
void NumbersOf(const Block& block, const BlockLayout& layout, float* numbers);

/// Dequantizes `count` elements of any type, in whole blocks. The results are bit-identical to llama.cpp's.
HEADLIGHT_API void Dequantize(GgufType type, const std::byte* from, std::int64_t count, float* to);

}  // namespace headlight::kernels
