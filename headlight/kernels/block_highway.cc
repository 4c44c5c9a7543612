// Products with block types for Arm, and for x86-64 processors without AVX2. The codes of a group are unpacked once for
// all rows. Products of bytes are summed in 16 bits.
#include "headlight/kernels/block_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/block_highway.cc"
// On x86-64, only SSE4 and the fallback are enabled. block_vnni.cc and block_avx2.cc cover the other targets.
#define HWY_DISABLED_TARGETS \
  (HWY_AVX3_DL | HWY_AVX3 | HWY_AVX2 | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>

#include "headlight/kernels/half.h"
#include "headlight/kernels/rows.h"

#ifndef HEADLIGHT_BLOCK_GROUP
#define HEADLIGHT_BLOCK_GROUP
namespace headlight::kernels {

constexpr int kLongestGroup = 32;

// The unpacked elements of a group, for all columns of a panel.
struct BlockGroup {
  alignas(64) std::int8_t levels[kLongestGroup / kQuad * kQuadBytes];  // [quad][64][4]
  alignas(64) float scales[kPanelColumns];
  alignas(64) float mins[kPanelColumns];
};

}  // namespace headlight::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::BlockGroup;
using kernels::kPanelColumns;
using kernels::kQuad;
using kernels::kQuadBytes;

// Adds a group's products with `left`, the elements of one row, to the sums of the row's columns. The sums of
// `together` quads fit into 16 bits.
#if HWY_TARGET == HWY_SCALAR
void AddBlockGroup(const BlockGroup& group, const std::int8_t* left, int quads, int /*together*/, float scale,
                   const float* shift, float* sums) {
  std::int32_t exact[kPanelColumns] = {};
  for (int quad = 0; quad < quads; ++quad)
    for (std::int64_t i = 0; i < kQuadBytes; ++i)
      exact[i / kQuad] += group.levels[quad * kQuadBytes + i] * left[quad * kQuad + i % kQuad];
  for (std::int64_t column = 0; column < kPanelColumns; ++column) {
    sums[column] = std::fma(static_cast<float>(exact[column]) * scale, group.scales[column], sums[column]);
    if (shift != nullptr) sums[column] = std::fma(-group.mins[column], *shift, sums[column]);
  }
}
#else
// Returns a * b + c, rounded once.
template <class D, class V = hn::Vec<D> >
HWY_INLINE V FusedMulAdd(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  HWY_ALIGN float lanes[3][hn::MaxLanes(d)];
  hn::Store(a, d, lanes[0]);
  hn::Store(b, d, lanes[1]);
  hn::Store(c, d, lanes[2]);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[2][i] = std::fma(lanes[0][i], lanes[1][i], lanes[2][i]);
  return hn::Load(d, lanes[2]);
#endif
}

void AddBlockGroup(const BlockGroup& group, const std::int8_t* left, int quads, int together, float scale,
                   const float* shift, float* sums) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const hn::Repartition<std::int64_t, decltype(d)> d64;
  const hn::Rebind<std::int8_t, decltype(d16)> d8;
  const std::size_t columns = hn::Lanes(d), bytes = hn::Lanes(d16);  // two vectors of bytes hold the quads of `columns`
  const auto scales = hn::Set(d, scale);
  for (std::size_t column = 0; column < static_cast<std::size_t>(kPanelColumns); column += columns) {
    auto exact = hn::Zero(d32);
    for (int begin = 0; begin < quads; begin += together) {
      auto first = hn::Zero(d16), second = hn::Zero(d16);
      for (int quad = begin; quad < begin + together; ++quad) {
        std::int16_t four[kQuad];
        std::copy_n(left + quad * kQuad, kQuad, four);
        std::int64_t word;
        std::memcpy(&word, four, sizeof(word));
        const auto factor = hn::BitCast(d16, hn::Set(d64, word));
        const std::int8_t* const levels = group.levels + quad * kQuadBytes + column * kQuad;
        first = hn::Add(first, hn::Mul(hn::PromoteTo(d16, hn::Load(d8, levels)), factor));
        second = hn::Add(second, hn::Mul(hn::PromoteTo(d16, hn::Load(d8, levels + bytes)), factor));
      }
      const auto pairs = [&](auto sum) HWY_ATTR {
        const auto both = hn::BitCast(d32, sum);
        return hn::Add(hn::ShiftRight<16>(hn::ShiftLeft<16>(both)), hn::ShiftRight<16>(both));
      };
      const auto low = pairs(first), high = pairs(second);
      exact = hn::Add(exact, hn::Add(hn::ConcatEven(d32, high, low), hn::ConcatOdd(d32, high, low)));
    }
    auto sum = FusedMulAdd(d, hn::Mul(hn::ConvertTo(d, exact), scales), hn::Load(d, group.scales + column),
                           hn::Load(d, sums + column));
    if (shift != nullptr) sum = FusedMulAdd(d, hn::Neg(hn::Load(d, group.mins + column)), hn::Set(d, *shift), sum);
    hn::Store(sum, d, sums + column);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight {

HWY_EXPORT(AddBlockGroup);

namespace kernels {
namespace {

// Unpacks the elements of a group without scaling them. The codes of the group begin at `codes`.
template <BlockLayout layout>
void LoadLevels(const std::uint8_t* codes, std::int8_t* levels) {
  constexpr int more = layout.bits - 4;
  const auto level = [](int code) {
    return static_cast<std::int8_t>(layout.levels ? kBlockLevels[code] : code - layout.offset);
  };
  for (int quad = 0; quad < layout.group / kQuad; ++quad)
    for (int i = 0; i < kQuadBytes; ++i) {
      std::int8_t& to = levels[quad * kQuadBytes + i];
      if constexpr (layout.bits == 8) {
        to = level(codes[quad * kQuadBytes + i]);
      } else {
        int code = codes[quad / 2 * kQuadBytes + i] >> (quad % 2 * 4) & 0xf;
        if constexpr (more > 0) code |= (codes[LowBytes(layout) + i] >> (quad * more) & ((1 << more) - 1)) << 4;
        to = level(code);
      }
    }
}

template <BlockLayout layout>
void HighwayProduct(const BlockRows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  struct Sums;
  constexpr int quads = layout.group / kQuad, largest = layout.levels || layout.bits == 8 ? 128 : 1 << layout.bits;
  constexpr int together = std::min(quads, 32767 / (largest * 127));
  static_assert(together >= 1 && quads % together == 0);
  float* const sums = KeptScratch<Sums, float>(a.rows * kPanelColumns);
  std::fill_n(sums, a.rows * kPanelColumns, 0.0F);
  const auto add = HWY_DYNAMIC_DISPATCH(AddBlockGroup);
  BlockGroup group;
  std::int64_t k = 0;
  for (std::int64_t run = 0; run < a.depth / layout.run; ++run) {
    const std::byte* at = panel + run * RunBytes(layout);
    const auto half = [header = at](std::int64_t index) {
      std::uint16_t bits;
      std::memcpy(&bits, header + index * std::int64_t{sizeof(bits)}, sizeof(bits));
      return FloatOfHalf(bits);
    };
    at += HeaderBytes(layout);
    for (int its = 0; its < layout.run / layout.group; ++its, k += layout.group, at += GroupBytes(layout)) {
      const std::uint8_t* const header = Unsigned(at);
      LoadLevels<layout>(header + GroupHeaderBytes(layout), group.levels);
      for (std::int64_t column = 0; column < kPanelColumns; ++column) {
        group.scales[column] = half(column);
        if constexpr (layout.scales)
          group.scales[column] *= static_cast<float>(static_cast<std::int8_t>(header[column]));
        if constexpr (layout.mins) group.mins[column] = half(kPanelColumns + column);
        if constexpr (layout.mins && layout.scales)
          group.mins[column] *= static_cast<float>(header[kPanelColumns + column]);
      }
      for (std::int64_t row = 0; row < a.rows; ++row) {
        const float scale = ScaleAt(a, row, k), shift = scale * static_cast<float>(GroupSum(a, row, k, layout.group));
        add(group, a.values + row * a.depth + k, quads, together, scale, layout.mins ? &shift : nullptr,
            sums + row * kPanelColumns);
      }
    }
  }
  for (std::int64_t row = 0; row < a.rows; ++row)
    FinishRow(sums + row * kPanelColumns, c.columns, bias, relu, c.row(row));
}

template <BlockLayout layout>
struct OfHighway {
  static constexpr BlockProduct product = HighwayProduct<layout>;
};

}  // namespace

BlockProduct HighwayBlockProduct(GgufType type) { return ProductFor<OfHighway>(type); }

}  // namespace kernels
}  // namespace headlight
#endif
