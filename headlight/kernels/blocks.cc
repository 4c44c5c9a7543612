#include "headlight/kernels/blocks.h"

#include <bit>
#include <cstring>

#include "headlight/base/error.h"
#include "headlight/kernels/half.h"

namespace headlight::kernels {
namespace {

std::uint16_t HalfAt(const std::byte* from) {
  std::uint16_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return bits;
}

constexpr std::uint16_t kHalfSign = 0x8000;

const std::uint8_t* Bytes(const std::byte* from) { return reinterpret_cast<const std::uint8_t*>(from); }

// Eight bytes that are processed at once. Shifts move bits between bytes, so each shift is followed by a mask.
using Eight = std::uint64_t;
constexpr Eight Each(std::uint8_t byte) { return 0x0101010101010101U * Eight{byte}; }
Eight EightAt(const std::uint8_t* from) {
  Eight eight;
  std::memcpy(&eight, from, sizeof(eight));
  return eight;
}
void PutEight(Eight eight, std::uint8_t* to) { std::memcpy(to, &eight, sizeof(eight)); }

// Unpacks the codes of 2 * count elements. The first half is in the low bits of the bytes, and the second half is in
// the high bits.
void TakeNibbles(const std::uint8_t* bytes, int count, std::uint8_t* codes) {
  for (int i = 0; i < count; i += 8) {
    const Eight eight = EightAt(bytes + i);
    PutEight(eight & Each(0xf), codes + i);
    PutEight(eight >> 4 & Each(0xf), codes + count + i);
  }
}

// Sets some bits of 32 codes from 32 bytes. Each byte is shifted right by `from`, masked, shifted left by `to`, and
// added to its code.
void AddBits(const std::uint8_t* bytes, int from, std::uint8_t mask, int to, std::uint8_t* codes) {
  for (int l = 0; l < 32; l += 8)
    PutEight(EightAt(codes + l) | (EightAt(bytes + l) >> from & Each(mask)) << to, codes + l);
}

// Sets bit 4 of code i to bit i of `bits`.
void AddFifthBits(std::uint32_t bits, std::uint8_t* codes) {
  for (int i = 0; i < 32; i += 8) {
    const Eight one_of_each = Each(static_cast<std::uint8_t>(bits >> i)) & 0x8040201008040201U;
    const Eight in_bit_7 = (one_of_each + Each(0x7f)) & Each(0x80);
    PutEight(EightAt(codes + i) | in_bit_7 >> 3, codes + i);
  }
}

// Unpacks the 6-bit scales and minima of Q4_K and Q5_K. The first four scales and minima have separate bytes. The upper
// two bits of these bytes complete the other scales and minima.
void TakeSixBitPairs(const std::uint8_t* packed, Block& block) {
  for (std::size_t i = 0; i < 4; ++i) {
    block.scales[i] = static_cast<std::int8_t>(packed[i] & 63);
    block.mins[i] = packed[4 + i] & 63;
    block.scales[4 + i] = static_cast<std::int8_t>((packed[8 + i] & 0xf) | packed[i] >> 6 << 4);
    block.mins[4 + i] = static_cast<std::uint8_t>(packed[8 + i] >> 4 | packed[4 + i] >> 6 << 4);
  }
}

// Unpacks the 6-bit scales of Q3_K and subtracts 32. The low four bits of all scales come first, then the high two
// bits.
void TakeSixBitScales(const std::uint8_t* packed, Block& block) {
  for (std::size_t i = 0; i < 16; ++i) {
    const int low = i < 8 ? packed[i] & 0xf : packed[i - 8] >> 4;
    const int high = packed[8 + i % 4] >> (i / 4 * 2) & 3;
    block.scales[i] = static_cast<std::int8_t>((low | high << 4) - 32);
  }
}

// Unpacks two bits of each of 128 elements from 32 bytes. Element 32 j + l is in bits 2 j and 2 j + 1 of byte l.
void TakeTwoBits(const std::uint8_t* bytes, std::uint8_t* codes) {
  for (int j = 0; j < 4; ++j)
    for (int l = 0; l < 32; l += 8) PutEight(EightAt(bytes + l) >> (2 * j) & Each(3), codes + 32 * j + l);
}

}  // namespace

Block SplitBlock(GgufType type, const std::byte* from) {
  Block block;
  block.scales.fill(1);
  block.mins.fill(1);
  block.min = 0;
  std::uint8_t* codes = block.codes.data();
  const std::uint8_t* bytes = Bytes(from);
  switch (type) {
    case GgufType::q4_0:
    case GgufType::iq4_nl:
      block.scale = HalfAt(from);
      TakeNibbles(bytes + 2, 16, codes);
      return block;
    case GgufType::q4_1:
      block.scale = HalfAt(from);
      block.min = HalfAt(from + 2) ^ kHalfSign;  // the file stores the negative of the min
      TakeNibbles(bytes + 4, 16, codes);
      return block;
    case GgufType::q5_0:
    case GgufType::q5_1: {
      const bool mins = type == GgufType::q5_1;
      block.scale = HalfAt(from);
      if (mins) block.min = HalfAt(from + 2) ^ kHalfSign;
      bytes += mins ? 4 : 2;
      std::uint32_t fifth;
      std::memcpy(&fifth, bytes, sizeof(fifth));
      TakeNibbles(bytes + 4, 16, codes);
      AddFifthBits(fifth, codes);
      return block;
    }
    case GgufType::q8_0:
      block.scale = HalfAt(from);
      for (int i = 0; i < 32; ++i) codes[i] = bytes[2 + i] ^ 0x80;
      return block;
    case GgufType::q2_k:
      for (std::size_t i = 0; i < 16; ++i) {
        block.scales[i] = static_cast<std::int8_t>(bytes[i] & 0xf);
        block.mins[i] = bytes[i] >> 4;
      }
      for (int half = 0; half < 2; ++half) TakeTwoBits(bytes + 16 + 32 * half, codes + 128 * half);
      block.scale = HalfAt(from + 80);
      block.min = HalfAt(from + 82);
      return block;
    case GgufType::q3_k:
      for (int half = 0; half < 2; ++half) TakeTwoBits(bytes + 32 + 32 * half, codes + 128 * half);
      for (int part = 0; part < 8; ++part) AddBits(bytes, part, 1, 2, codes + 32 * part);
      TakeSixBitScales(bytes + 96, block);
      block.scale = HalfAt(from + 108);
      return block;
    case GgufType::q4_k:
    case GgufType::q5_k: {
      block.scale = HalfAt(from);
      block.min = HalfAt(from + 2);
      TakeSixBitPairs(bytes + 4, block);
      const std::uint8_t* const fifth = bytes + 16;
      const std::uint8_t* const nibbles = type == GgufType::q5_k ? bytes + 48 : bytes + 16;
      for (int part = 0; part < 4; ++part) TakeNibbles(nibbles + 32 * part, 32, codes + 64 * part);
      for (int part = 0; type == GgufType::q5_k && part < 8; ++part) AddBits(fifth, part, 1, 4, codes + 32 * part);
      return block;
    }
    case GgufType::q6_k:
      for (int half = 0; half < 2; ++half) {
        TakeNibbles(bytes + 64 * half, 64, codes + 128 * half);
        for (int part = 0; part < 4; ++part)
          AddBits(bytes + 128 + 32 * half, 2 * part, 3, 4, codes + 128 * half + 32 * part);
      }
      std::memcpy(block.scales.data(), bytes + 192, 16);
      block.scale = HalfAt(from + 208);
      return block;
    case GgufType::iq4_xs: {
      block.scale = HalfAt(from);
      const std::uint16_t high = HalfAt(from + 2);
      for (std::size_t i = 0; i < 8; ++i) {
        const int low = bytes[4 + i / 2] >> (4 * (i % 2)) & 0xf;
        block.scales[i] = static_cast<std::int8_t>((low | (high >> (2 * i) & 3) << 4) - 32);
        TakeNibbles(bytes + 8 + 16 * i, 16, codes + 32 * i);
      }
      return block;
    }
    case GgufType::f32:
    case GgufType::f16:
    case GgufType::bf16:
      break;
  }
  ThrowError(ErrorCause::internal, "type {} has no blocks", fmt::make_format_args(InfoOf(type).name));
}

void NumbersOf(const Block& block, const BlockLayout& layout, float* numbers) {
  const float scale = FloatOfHalf(block.scale), min = FloatOfHalf(block.min);
  for (int i = 0; i < layout.run; ++i) {
    const auto group = static_cast<std::size_t>(i / layout.group);
    const int code = block.codes[static_cast<std::size_t>(i)];
    const int level = layout.levels ? kBlockLevels[static_cast<std::size_t>(code)] : code - layout.offset;
    const float number = scale * static_cast<float>(block.scales[group]) * static_cast<float>(level);
    numbers[i] = layout.mins ? number - min * static_cast<float>(block.mins[group]) : number;
  }
}

void Dequantize(GgufType type, const std::byte* from, std::int64_t count, float* to) {
  if (type == GgufType::f32) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  if (!IsBlockType(type)) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint16_t bits = HalfAt(from + 2 * i);
      to[i] = type == GgufType::f16 ? FloatOfHalf(bits) : std::bit_cast<float>(std::uint32_t{bits} << 16);
    }
    return;
  }
  const BlockLayout layout = LayoutOf(type);
  for (std::int64_t i = 0; i < count; i += layout.run, from += InfoOf(type).size)
    NumbersOf(SplitBlock(type, from), layout, to + i);
}

}  // namespace headlight::kernels
