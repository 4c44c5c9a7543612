// The color scales of attention weights.
#pragma once

#include <cstdint>

namespace headlight {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;  // sRGB
  bool operator==(const Color&) const = default;
};

enum class Theme { light, dark };

/// Returns the color of a weight in [0, 1]. A larger weight is darker on a light background, and lighter on a dark
/// background. The scale is a straight line in OKLab (Ottosson, "A perceptual color space for image processing", 2020),
/// which is perceptually uniform. Weights can therefore be compared even in grayscale print or by color-blind readers.
Color RampColor(double weight, Theme theme);

/// Returns the color of a weight in [0, 1] over a gray image: from dark violet through blue and green to yellow.
/// Lightness in OKLab increases linearly with the weight.
Color HeatColor(double weight);

}  // namespace headlight
