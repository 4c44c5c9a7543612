#include "headlight/image/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/image/resize.cc"
// Disables the instruction sets that headlight's kernels do not use, to reduce the compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "headlight/base/error.h"

#ifndef HEADLIGHT_IMAGE_RESIZE_ONCE_
#define HEADLIGHT_IMAGE_RESIZE_ONCE_

namespace headlight {
namespace {

// Weights are fixed-point numbers with 22 fractional bits. Sums of weights times bytes fit in 32 bits. Products have
// 16-bit factors, so a weight is split into upper * 2^12 + lower.
constexpr int kBits = 22, kLowerBits = 12;

// The weighted input pixels of each output pixel along a side. An output pixel depends on `count` input pixels from
// index `first`.
struct Windows {
  std::int64_t most = 0;  // the maximum count, an even number
  std::vector<std::int64_t> first, count;
  // Each number contains two weights, the second in the upper 16 bits, so that pairs can be multiplied.
  std::vector<std::int32_t> upper, lower;  // [output, most / 2]
};

double Weight(ResizeFilter filter, double x) {
  x = std::abs(x);
  const auto sinc = [](double t) { return t == 0 ? 1.0 : std::sin(t * std::numbers::pi) / (t * std::numbers::pi); };
  switch (filter) {
    case ResizeFilter::lanczos:
      return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case ResizeFilter::bilinear:
      return x < 1 ? 1 - x : 0;
    case ResizeFilter::bicubic:
      if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
    case ResizeFilter::hamming:
      return x < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(x * std::numbers::pi)) : 0;
    default:
      return 0;
  }
}

double Support(ResizeFilter filter) {
  if (filter == ResizeFilter::lanczos) return 3;
  if (filter == ResizeFilter::bicubic) return 2;
  return filter == ResizeFilter::box ? 0.5 : 1;
}

Windows WindowsOf(std::int64_t inputs, std::int64_t outputs, ResizeFilter filter) {
  const double scale = static_cast<double>(inputs) / static_cast<double>(outputs);
  const double filter_scale = std::max(scale, 1.0), inverse = 1 / filter_scale;
  const double support = Support(filter) * filter_scale;
  Windows windows;
  windows.most = (static_cast<std::int64_t>(std::ceil(support)) * 2 + 2) / 2 * 2;
  windows.upper.resize(static_cast<std::size_t>(outputs * windows.most / 2));
  windows.lower.resize(windows.upper.size());
  std::vector<double> weights;
  for (std::int64_t i = 0; i < outputs; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const std::int64_t first = std::max<std::int64_t>(0, static_cast<std::int64_t>(center - support + 0.5));
    const std::int64_t end = std::min(inputs, static_cast<std::int64_t>(center + support + 0.5));
    weights.clear();
    double sum = 0;
    for (std::int64_t j = first; j < end; ++j) {
      const double x = (static_cast<double>(j) - center + 0.5) * inverse;
      // The box filter includes its upper end, but not its lower end.
      const double weight = filter == ResizeFilter::box ? (x > -0.5 && x <= 0.5 ? 1.0 : 0.0) : Weight(filter, x);
      weights.push_back(weight);
      sum += weight;
    }
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const double weight = sum != 0 ? weights[j] / sum : weights[j];
      const double scaled = weight * (1 << kBits);
      const auto fixed = static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
      const std::size_t pair = static_cast<std::size_t>(i * windows.most / 2) + j / 2;
      const auto pack = [&](std::int32_t& to, std::int32_t number) {
        to |= j % 2 == 0 ? number & 0xFFFF : static_cast<std::int32_t>(static_cast<std::uint32_t>(number) << 16);
      };
      pack(windows.upper[pair], fixed >> kLowerBits);
      pack(windows.lower[pair], fixed & ((1 << kLowerBits) - 1));
    }
    windows.first.push_back(first);
    windows.count.push_back(end - first);
  }
  return windows;
}

}  // namespace
}  // namespace headlight

#endif

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

const hn::CappedTag<std::int32_t, 16> kInts;
const hn::Rebind<std::uint8_t, decltype(kInts)> kBytes;
using Ints = hn::Vec<decltype(kInts)>;

// Computes first * a + second * b for a pair of weights (a, b) in the layout of Windows.
HWY_INLINE Ints PairProduct(Ints first, Ints second, std::int32_t weights) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Repartition<std::int16_t, decltype(kInts)> shorts;
  const auto pairs = hn::BitCast(shorts, hn::Or(first, hn::ShiftLeft<16>(second)));
  Ints unused = hn::Zero(kInts);
  return hn::ReorderWidenMulAccumulate(kInts, pairs, hn::BitCast(shorts, hn::Set(kInts, weights)), unused, unused);
#else
  return hn::Add(hn::Mul(first, hn::Set(kInts, static_cast<std::int16_t>(weights & 0xFFFF))),
                 hn::Mul(second, hn::Set(kInts, weights >> 16)));
#endif
}

// Computes the weighted sum of `count` vectors of bytes at from + i * stride. Writes the sums to `to`, rounded to
// bytes.
HWY_INLINE void WeightedBytes(const std::uint8_t* from, std::int64_t stride, std::int64_t count,
                              const std::int32_t* upper_weights, const std::int32_t* lower_weights, std::uint8_t* to) {
  Ints upper = hn::Zero(kInts), lower = hn::Set(kInts, 1 << (kBits - 1));  // the initial value rounds the sum
  for (std::int64_t i = 0; i < count; i += 2, from += 2 * stride) {
    const Ints first = hn::PromoteTo(kInts, hn::LoadU(kBytes, from));
    // If the count is odd, the last vector is loaded twice, the second time with weight 0.
    const Ints second = hn::PromoteTo(kInts, hn::LoadU(kBytes, i + 1 < count ? from + stride : from));
    upper = hn::Add(upper, PairProduct(first, second, upper_weights[i / 2]));
    lower = hn::Add(lower, PairProduct(first, second, lower_weights[i / 2]));
  }
  const Ints sum = hn::ShiftRight<kBits>(hn::Add(hn::ShiftLeft<kLowerBits>(upper), lower));
  hn::StoreU(hn::DemoteTo(kBytes, sum), kBytes, to);
}

// Filters four rows at once. The input is stored as columns of four pixels with four channels: [width, 4 rows, 4].
void FilterFourRows(const std::uint8_t* columns, const Windows& windows, std::uint8_t* const* rows) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kInts));
  for (std::size_t x = 0; x < windows.first.size(); ++x) {
    const std::size_t pairs = x * static_cast<std::size_t>(windows.most / 2);
    HWY_ALIGN std::uint8_t pixels[16];
    for (std::int64_t lane = 0; lane < 16; lane += lanes)
      WeightedBytes(columns + windows.first[x] * 16 + lane, 16, windows.count[x], windows.upper.data() + pairs,
                    windows.lower.data() + pairs, pixels + lane);
    // The fourth channel overwrites the first byte of the next pixel, which is written later.
    for (int row = 0; row < 4; ++row) std::memcpy(rows[row] + 3 * x, pixels + 4 * row, 4);
  }
}

// Computes one row of bytes from several rows. Loads and stores whole vectors.
void FilterColumns(const std::uint8_t* rows, std::int64_t stride, std::int64_t count, const std::int32_t* upper,
                   const std::int32_t* lower, std::int64_t bytes, std::uint8_t* out) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kInts));
  for (std::int64_t x = 0; x < bytes; x += lanes) WeightedBytes(rows + x, stride, count, upper, lower, out + x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight {
namespace {

HWY_EXPORT(FilterFourRows);
HWY_EXPORT(FilterColumns);

constexpr std::int64_t kSlack = 64;  // the number of bytes after a buffer that whole vectors may access

// Rows of bytes, followed by kSlack bytes.
struct Rows {
  std::int64_t stride;
  std::vector<std::uint8_t> bytes;

  Rows(std::int64_t height, std::int64_t row_bytes)
      : stride(row_bytes + 1), bytes(static_cast<std::size_t>(height * stride + kSlack)) {}
  std::uint8_t* row(std::int64_t y) { return bytes.data() + y * stride; }
};

Rows ResizeRows(const Image& image, std::int64_t width, ResizeFilter filter) {
  const Windows windows = WindowsOf(image.width, width, filter);
  Rows resized((image.height + 3) / 4 * 4, width * 3);
  std::vector<std::uint8_t> columns(static_cast<std::size_t>(image.width * 16));
  for (std::int64_t y = 0; y < image.height; y += 4) {
    std::uint8_t* rows[4];
    for (int row = 0; row < 4; ++row) {
      rows[row] = resized.row(y + row);
      const std::uint8_t* from = image.row(std::min(y + row, image.height - 1));
      std::uint8_t* to = columns.data() + 4 * row;
      for (std::int64_t x = 0; x + 1 < image.width; ++x, from += 3, to += 16)
        std::memcpy(to, from, 4);  // copies with a single instruction
      std::memcpy(to, from, 3);
    }
    HWY_DYNAMIC_DISPATCH(FilterFourRows)(columns.data(), windows, rows);
  }
  return resized;
}

Image ResizeColumns(Rows rows, std::int64_t from_height, std::int64_t height, std::int64_t width, ResizeFilter filter) {
  const Windows windows = WindowsOf(from_height, height, filter);
  Image resized{.height = height, .width = width};
  resized.pixels.resize(static_cast<std::size_t>(height * width * 3));
  std::vector<std::uint8_t> row(static_cast<std::size_t>(width * 3 + kSlack));
  for (std::int64_t y = 0; y < height; ++y) {
    const std::size_t pairs = static_cast<std::size_t>(y * windows.most / 2), i = static_cast<std::size_t>(y);
    HWY_DYNAMIC_DISPATCH(FilterColumns)
    (rows.row(windows.first[i]), rows.stride, windows.count[i], windows.upper.data() + pairs,
     windows.lower.data() + pairs, width * 3, row.data());
    std::copy_n(row.data(), width * 3, resized.row(y));
  }
  return resized;
}

Rows RowsOf(const Image& image) {
  Rows rows(image.height, image.width * 3);
  for (std::int64_t y = 0; y < image.height; ++y) std::copy_n(image.row(y), image.width * 3, rows.row(y));
  return rows;
}

Image ToImage(Rows rows, std::int64_t height, std::int64_t width) {
  Image image{.height = height, .width = width};
  image.pixels.resize(static_cast<std::size_t>(height * width * 3));
  for (std::int64_t y = 0; y < height; ++y) std::copy_n(rows.row(y), width * 3, image.row(y));
  return image;
}

// Returns the index of the nearest input pixel for each output pixel. Pillow accumulates the step, including its
// rounding errors.
std::vector<std::int64_t> NearestOf(std::int64_t inputs, std::int64_t outputs) {
  const double step = static_cast<double>(inputs) / static_cast<double>(outputs);
  std::vector<std::int64_t> nearest;
  double place = step * 0.5;
  for (std::int64_t i = 0; i < outputs; ++i, place += step)
    nearest.push_back(std::min(static_cast<std::int64_t>(place), inputs - 1));
  return nearest;
}

Image ResizeNearest(const Image& image, std::int64_t height, std::int64_t width) {
  Image resized{.height = height, .width = width};
  resized.pixels.resize(static_cast<std::size_t>(height * width * 3));
  const std::vector<std::int64_t> columns = NearestOf(image.width, width), rows = NearestOf(image.height, height);
  std::uint8_t* out = resized.pixels.data();
  for (const std::int64_t y : rows)
    for (const std::int64_t x : columns) out = std::copy_n(image.row(y) + 3 * x, 3, out);
  return resized;
}

}  // namespace

Image Resize(const Image& image, std::int64_t height, std::int64_t width, ResizeFilter filter) {
  Check(height >= 1 && width >= 1, "an image cannot be resized to {} x {}", width, height);
  if (height == image.height && width == image.width) return image;
  if (filter == ResizeFilter::nearest) return ResizeNearest(image, height, width);
  // As in Pillow 13. Older versions always filter rows first.
  const bool columns_first =
      height < image.height && 2 * (image.width - width) < image.height - height && width != image.width;
  if (columns_first)
    return ToImage(ResizeRows(ResizeColumns(RowsOf(image), image.height, height, image.width, filter), width, filter),
                   height, width);
  Rows rows = width == image.width ? RowsOf(image) : ResizeRows(image, width, filter);
  if (height == image.height) return ToImage(std::move(rows), height, width);
  return ResizeColumns(std::move(rows), image.height, height, width, filter);
}

}  // namespace headlight
#endif
