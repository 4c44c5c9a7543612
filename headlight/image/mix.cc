#include "headlight/image/mix.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Returns the logarithm of a gamma variate with this shape and scale 1 (Marsaglia and Tsang, "A Simple Method for
// Generating Gamma Variables", 2000). For small shapes, the variate is often too small for a double.
double LogOfGamma(double shape, Random& random) {
  // Samples a variate with shape + 1 and multiplies it by a uniform number to the power of 1 / shape.
  const double d = shape + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double normal = random.Normal(), root = 1 + c * normal;
    if (root <= 0) continue;
    const double cube = root * root * root;
    if (std::log(1 - random.Uniform()) < 0.5 * normal * normal + d - d * cube + d * std::log(cube))
      return std::log(d * cube) + std::log(1 - random.Uniform()) / shape;
  }
}

double Beta(double alpha, Random& random) {
  const double first = LogOfGamma(alpha, random), second = LogOfGamma(alpha, random);
  return 1 / (1 + std::exp(second - first));
}

// Replaces row i by share * row i + (1 - share) * row (i - 1). The first row is mixed with the last row.
void MixRows(const Tensor& rows, double share) {
  const auto own = static_cast<float>(share), other = static_cast<float>(1 - share);
  const std::int64_t count = rows.shape()[0], size = count == 0 ? 0 : rows.elements() / count;
  float* const values = rows.data<float>();
  const std::vector<float> last(values + (count - 1) * size, values + count * size);
  for (std::int64_t i = count - 1; i >= 0; --i) {
    const float* const before = i == 0 ? last.data() : values + (i - 1) * size;
    for (std::int64_t j = 0; j < size; ++j) values[i * size + j] = own * values[i * size + j] + other * before[j];
  }
}

void CheckMixed(const Tensor& values, const Tensor& targets) {
  Check(values.shape().rank() == 4 && targets.shape().rank() == 2 && values.shape()[0] == targets.shape()[0] &&
            values.shape()[0] > 0,
        "images {} and classes {} cannot be mixed", ToString(values.shape()), ToString(targets.shape()));
}

}  // namespace

void EraseAtRandom(const Tensor& values, double probability, Random& random) {
  if (!(random.Uniform() < probability)) return;
  const std::int64_t height = values.shape()[0], width = values.shape()[1], channels = values.shape()[2];
  const double least = std::log(0.3), most = std::log(3.3);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(height * width) * (0.02 + (0.33 - 0.02) * random.Uniform());
    const double aspect = std::exp(least + (most - least) * random.Uniform());
    const auto h = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * aspect)));
    const auto w = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area / aspect)));
    if (h >= height || w >= width) continue;
    const auto top = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(height - h + 1)));
    const auto left = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(width - w + 1)));
    for (std::int64_t y = top; y < top + h; ++y)
      std::fill_n(values.data<float>() + (y * width + left) * channels, w * channels, 0.0F);
    return;
  }
}

void Mixup(const Tensor& values, const Tensor& targets, double share) {
  CheckMixed(values, targets);
  MixRows(values, share);
  MixRows(targets, share);
}

void CutMix(const Tensor& values, const Tensor& targets, const Region& region) {
  CheckMixed(values, targets);
  const std::int64_t count = values.shape()[0], height = values.shape()[1], width = values.shape()[2],
                     channels = values.shape()[3];
  Check(region.top >= 0 && region.left >= 0 && region.height >= 0 && region.width >= 0 &&
            region.top + region.height <= height && region.left + region.width <= width,
        "a region of {} x {} at ({}, {}) is not within images {}", region.width, region.height, region.left, region.top,
        ToString(values.shape()));
  const std::int64_t row = region.width * channels;
  float* const all = values.data<float>();
  const auto part = [&](std::int64_t image, std::int64_t y) {
    return all + ((image * height + region.top + y) * width + region.left) * channels;
  };
  std::vector<float> last;
  for (std::int64_t y = 0; y < region.height; ++y)
    last.insert(last.end(), part(count - 1, y), part(count - 1, y) + row);
  for (std::int64_t i = count - 1; i > 0; --i)
    for (std::int64_t y = 0; y < region.height; ++y) std::copy_n(part(i - 1, y), row, part(i, y));
  for (std::int64_t y = 0; y < region.height; ++y) std::copy_n(last.data() + y * row, row, part(0, y));
  MixRows(targets, 1 - static_cast<double>(region.height * region.width) / static_cast<double>(height * width));
}

void Mix(const Tensor& values, const Tensor& targets, const MixOptions& options, Random& random) {
  if (options.mixup <= 0 && options.cutmix <= 0) return;
  const bool sum = options.cutmix <= 0 || (options.mixup > 0 && random.Below(2) == 0);
  const double share = Beta(sum ? options.mixup : options.cutmix, random);
  if (sum) return Mixup(values, targets, share);
  const std::int64_t height = values.shape()[1], width = values.shape()[2];
  const auto x = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(width)));
  const auto y = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(height)));
  const double half = 0.5 * std::sqrt(1 - share);
  const auto half_width = static_cast<std::int64_t>(half * static_cast<double>(width));
  const auto half_height = static_cast<std::int64_t>(half * static_cast<double>(height));
  const std::int64_t left = std::max<std::int64_t>(0, x - half_width), right = std::min(width, x + half_width);
  const std::int64_t top = std::max<std::int64_t>(0, y - half_height), bottom = std::min(height, y + half_height);
  CutMix(values, targets, {top, left, bottom - top, right - left});
}

}  // namespace headlight
