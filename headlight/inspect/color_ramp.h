// The colours of attention weights: one hue, with the weight as its lightness.
#pragma once

#include <cstdint>

namespace headlight {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;  // sRGB
  bool operator==(const Color&) const = default;
};

enum class Theme { light, dark };

// The colour of a weight in [0, 1]: on a light ground a larger weight is darker, on a dark one lighter.
// The path is straight in OKLab (Ottosson, "A perceptual color space for image processing", 2020), a perceptually
// uniform space: weights can be compared, also in grey print and with any colour vision.
Color RampColor(double weight, Theme theme);

}  // namespace headlight
