// The colour scales of attention weights.
#pragma once

#include <cstdint>

namespace headlight {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;  // sRGB
  bool operator==(const Color&) const = default;
};

enum class Theme { light, dark };

/// The colour of a weight in [0, 1]. On a light background a larger weight is darker, on a dark one lighter. The scale
/// is a straight line in OKLab (Ottosson, "A perceptual color space for image processing", 2020), which is perceptually
/// uniform, so that weights can be compared, also in grey print and with colour blindness.
Color RampColor(double weight, Theme theme);

/// The colour of a weight in [0, 1] over a grey image: from dark violet over blue and green to yellow. Lightness in
/// OKLab increases linearly with the weight.
Color HeatColor(double weight);

}  // namespace headlight
