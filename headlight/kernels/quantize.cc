#include "headlight/kernels/quantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "headlight/kernels/block_encode.h"
#include "headlight/kernels/block_search.h"
#include "headlight/kernels/blocks.h"
#include "headlight/kernels/half.h"

namespace headlight::kernels {
namespace {

constexpr std::uint16_t kHalfInfinity = 0x7c00, kBFloat16Infinity = 0x7f80;

bool IsFinite(std::uint16_t bits, std::uint16_t infinity) { return (bits & infinity) != infinity; }

// Returns false for infinity, and for the largest half, which is the bound of SearchBlock.
bool IsBelowLargest(std::uint16_t half) { return std::abs(FloatOfHalf(half)) < kLargestHalf; }

std::uint16_t BFloat16Of(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1)) >> 16);
}

// Returns the code of x by truncation, after the caller has added 0.5. Clamping only has an effect if the scale is too
// small to be stored.
std::uint8_t Truncated(float x, int codes) {
  return static_cast<std::uint8_t>(std::clamp(std::trunc(x), 0.0F, static_cast<float>(codes - 1)));
}

// Quantizes values with one scale. If the layout has minima, the range of the values determines the scale. Otherwise,
// the value with the largest magnitude determines the scale.
Block BlockByRange(std::span<const float> numbers, const BlockLayout& layout, int codes) {
  Block block{};
  block.scales.fill(1);
  block.mins.fill(1);
  float extreme = 0, least = numbers[0], most = numbers[0];
  for (const float number : numbers) {
    if (std::abs(number) > std::abs(extreme)) extreme = number;
    least = std::min(least, number);
    most = std::max(most, number);
  }
  const bool wide = layout.bits == 8;
  const float scale = wide          ? std::abs(extreme) / 127
                      : layout.mins ? (most - least) / static_cast<float>(codes - 1)
                                    : extreme / static_cast<float>(-layout.offset);
  const float inverse = scale == 0 || !std::isfinite(1 / scale) ? 0 : 1 / scale;
  block.scale = HalfOfFloat(scale);
  if (layout.mins) block.min = HalfOfFloat(least) ^ 0x8000U;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    block.codes[i] =
        wide          ? static_cast<std::uint8_t>(static_cast<int>(std::round(numbers[i] * inverse)) + layout.offset)
        : layout.mins ? Truncated((numbers[i] - least) * inverse + 0.5F, codes)
                      : Truncated(numbers[i] * inverse + (static_cast<float>(layout.offset) + 0.5F), codes);
  return block;
}

// All block types store values below this magnitude as zero.
constexpr float kLeastStored = 0x1p-40F;

// Returns the largest number that a block with scale 1 can store.
float LargestUnit(GgufType type) {
  const BlockLayout layout = LayoutOf(type);
  const BlockLimits limits = LimitsOf(type);
  const int level = layout.levels ? -kBlockLevels.front() : std::max(layout.offset, limits.codes - 1 - layout.offset);
  return static_cast<float>(level * std::max(-limits.least_scale, limits.most_scale));
}

Block BlockBySearch(GgufType type, std::span<const float> numbers, std::span<const float> importance) {
  float largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::abs(number));
  if (largest > kLargestHalf * LargestUnit(type)) {
    Block block{};
    block.scale = kHalfInfinity;
    return block;
  }
  std::array<float, kLongestRun> scaled, weights;
  double sum = 0;
  for (const float weight : importance) sum += double{weight};
  const float mean = static_cast<float>(sum / static_cast<double>(numbers.size()));
  constexpr float floor = 1e-4F;  // added to the importance, so that values with importance 0 keep their magnitude
  if (largest < kLeastStored) largest = 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    scaled[i] = numbers[i] / largest;
    weights[i] = mean > 0 ? importance[i] / mean + floor : 1;
  }
  return SearchBlock(type, scaled.data(), weights.data(), largest);
}

bool QuantizeHalves(GgufType type, std::span<const float> numbers, std::byte* to) {
  bool finite = true;
  const bool half = type == GgufType::f16;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint16_t bits = half ? HalfOfFloat(numbers[i]) : BFloat16Of(numbers[i]);
    finite = finite && IsFinite(bits, half ? kHalfInfinity : kBFloat16Infinity);
    std::memcpy(to + 2 * i, &bits, sizeof(bits));
  }
  return finite;
}

}  // namespace

bool Quantize(GgufType type, std::span<const float> numbers, std::span<const float> importance, std::byte* to) {
  if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) return false;
  if (type == GgufType::f32) {
    std::memcpy(to, numbers.data(), numbers.size_bytes());
    return true;
  }
  if (!IsBlockType(type)) return QuantizeHalves(type, numbers, to);
  const BlockLayout layout = LayoutOf(type);
  const int codes = LimitsOf(type).codes;
  const bool by_range = type == GgufType::q8_0 || (importance.empty() && !layout.scales && !layout.levels);
  const auto run = static_cast<std::size_t>(layout.run);
  bool finite = true;
  for (std::size_t i = 0; i < numbers.size(); i += run, to += InfoOf(type).size) {
    const std::span<const float> of = numbers.subspan(i, run);
    const Block block = by_range
                            ? BlockByRange(of, layout, codes)
                            : BlockBySearch(type, of, importance.empty() ? importance : importance.subspan(i, run));
    finite = finite && IsBelowLargest(block.scale) && IsBelowLargest(block.min);
    JoinBlock(type, block, to);
  }
  return finite;
}

}  // namespace headlight::kernels
