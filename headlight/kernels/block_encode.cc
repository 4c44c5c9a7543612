#include "headlight/kernels/block_encode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "headlight/base/error.h"

namespace headlight::kernels {
namespace {

using Byte = std::uint8_t;

void PutHalf(std::uint16_t half, Byte* to) { std::memcpy(to, &half, sizeof(half)); }

constexpr std::uint16_t kSignOfHalf = 0x8000;

// Packs the codes of 2 * count elements into `count` bytes. The first half is in the low bits, and the second half is
// in the high bits.
void PutNibbles(const Byte* codes, int count, Byte* to) {
  for (int i = 0; i < count; ++i) to[i] = static_cast<Byte>((codes[i] & 0xf) | codes[count + i] << 4);
}

std::uint32_t FifthBits(const Byte* codes) {
  std::uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= std::uint32_t{codes[i]} >> 4 << i;
  return bits;
}

// Packs the low two bits of each of 128 codes into 32 bytes.
void PutTwoBits(const Byte* codes, Byte* to) {
  for (int l = 0; l < 32; ++l) {
    to[l] = 0;
    for (int j = 0; j < 4; ++j) to[l] |= static_cast<Byte>((codes[32 * j + l] & 3) << (2 * j));
  }
}

// Sets bit i / 32 of byte i % 32 if bit `bit` of code i is set.
void PutBit(const Byte* codes, int bit, Byte* to) {
  std::fill_n(to, 32, Byte{0});
  for (int i = 0; i < 256; ++i) to[i % 32] |= static_cast<Byte>((codes[i] >> bit & 1) << (i / 32));
}

void PutSixBitPairs(const Block& block, Byte* to) {
  for (std::size_t i = 0; i < 4; ++i) {
    const auto scale = static_cast<Byte>(block.scales[4 + i]), min = block.mins[4 + i];
    to[i] = static_cast<Byte>(static_cast<Byte>(block.scales[i]) | scale >> 4 << 6);
    to[4 + i] = static_cast<Byte>(block.mins[i] | min >> 4 << 6);
    to[8 + i] = static_cast<Byte>((scale & 0xf) | min << 4);
  }
}

void PutSixBitScales(const Block& block, Byte* to) {
  std::fill_n(to, 12, Byte{0});
  for (std::size_t i = 0; i < 16; ++i) {
    const int scale = block.scales[i] + 32;
    to[i % 8] |= static_cast<Byte>((scale & 0xf) << (i < 8 ? 0 : 4));
    to[8 + i % 4] |= static_cast<Byte>(scale >> 4 << (i / 4 * 2));
  }
}

void PutSixBitCodes(const Byte* codes, Byte* low, Byte* high) {
  PutNibbles(codes, 64, low);
  for (int l = 0; l < 32; ++l) {
    high[l] = 0;
    for (int j = 0; j < 4; ++j) high[l] |= static_cast<Byte>(codes[32 * j + l] >> 4 << (2 * j));
  }
}

void PutSignedScales(const Block& block, Byte* to) {
  std::uint16_t high = 0;
  std::fill_n(to + 2, 4, Byte{0});
  for (std::size_t i = 0; i < 8; ++i) {
    const int scale = block.scales[i] + 32;
    to[2 + i / 2] |= static_cast<Byte>((scale & 0xf) << (4 * (i % 2)));
    high |= static_cast<std::uint16_t>(scale >> 4 << (2 * i));
  }
  PutHalf(high, to);
}

}  // namespace

BlockLimits LimitsOf(GgufType type) {
  switch (type) {
    case GgufType::q5_0:
    case GgufType::q5_1:
      return {.codes = 32};
    case GgufType::q8_0:
      return {.codes = 256};
    case GgufType::q2_k:
      return {.codes = 4, .least_scale = 0, .most_scale = 15, .most_min = 15};
    case GgufType::q3_k:
      return {.codes = 8, .least_scale = -32, .most_scale = 31};
    case GgufType::q4_k:
      return {.least_scale = 0, .most_scale = 63, .most_min = 63};
    case GgufType::q5_k:
      return {.codes = 32, .least_scale = 0, .most_scale = 63, .most_min = 63};
    case GgufType::q6_k:
      return {.codes = 64, .least_scale = -128, .most_scale = 127};
    case GgufType::iq4_xs:
      return {.least_scale = -32, .most_scale = 31};
    default:
      return {};
  }
}

void JoinBlock(GgufType type, const Block& block, std::byte* bytes) {
  Byte* const to = reinterpret_cast<Byte*>(bytes);
  const Byte* const codes = block.codes.data();
  switch (type) {
    case GgufType::q4_0:
    case GgufType::iq4_nl:
      PutHalf(block.scale, to);
      return PutNibbles(codes, 16, to + 2);
    case GgufType::q4_1:
      PutHalf(block.scale, to);
      PutHalf(block.min ^ kSignOfHalf, to + 2);
      return PutNibbles(codes, 16, to + 4);
    case GgufType::q5_0:
    case GgufType::q5_1: {
      const bool mins = type == GgufType::q5_1;
      PutHalf(block.scale, to);
      if (mins) PutHalf(block.min ^ kSignOfHalf, to + 2);
      Byte* const rest = to + (mins ? 4 : 2);
      const std::uint32_t fifth = FifthBits(codes);
      std::memcpy(rest, &fifth, sizeof(fifth));
      return PutNibbles(codes, 16, rest + 4);
    }
    case GgufType::q8_0:
      PutHalf(block.scale, to);
      for (int i = 0; i < 32; ++i) to[2 + i] = codes[i] ^ 0x80;
      return;
    case GgufType::q2_k:
      for (std::size_t i = 0; i < 16; ++i)
        to[i] = static_cast<Byte>(static_cast<Byte>(block.scales[i]) | block.mins[i] << 4);
      for (int half = 0; half < 2; ++half) PutTwoBits(codes + 128 * half, to + 16 + 32 * half);
      PutHalf(block.scale, to + 80);
      return PutHalf(block.min, to + 82);
    case GgufType::q3_k:
      PutBit(codes, 2, to);
      for (int half = 0; half < 2; ++half) PutTwoBits(codes + 128 * half, to + 32 + 32 * half);
      PutSixBitScales(block, to + 96);
      return PutHalf(block.scale, to + 108);
    case GgufType::q4_k:
    case GgufType::q5_k: {
      const bool fifth = type == GgufType::q5_k;
      PutHalf(block.scale, to);
      PutHalf(block.min, to + 2);
      PutSixBitPairs(block, to + 4);
      if (fifth) PutBit(codes, 4, to + 16);
      for (int part = 0; part < 4; ++part) PutNibbles(codes + 64 * part, 32, to + (fifth ? 48 : 16) + 32 * part);
      return;
    }
    case GgufType::q6_k:
      for (int half = 0; half < 2; ++half) PutSixBitCodes(codes + 128 * half, to + 64 * half, to + 128 + 32 * half);
      std::memcpy(to + 192, block.scales.data(), 16);
      return PutHalf(block.scale, to + 208);
    case GgufType::iq4_xs:
      PutHalf(block.scale, to);
      PutSignedScales(block, to + 2);
      for (int group = 0; group < 8; ++group) PutNibbles(codes + 32 * group, 16, to + 8 + 16 * group);
      return;
    case GgufType::f32:
    case GgufType::f16:
    case GgufType::bf16:
      break;
  }
  ThrowError(ErrorCause::internal, "type {} has no blocks", fmt::make_format_args(InfoOf(type).name));
}

}  // namespace headlight::kernels
