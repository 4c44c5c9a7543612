#include "headlight/inspect/color_ramp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headlight {
namespace {

struct OkLab {
  double lightness, a, b;
};

// The colors for weights 0 and 1. Between them, lightness changes linearly, and chroma increases towards blue.
struct Ends {
  OkLab zero, one;
};
constexpr Ends kLight = {{0.968, -0.003, -0.009}, {0.300, 0.010, -0.130}};
constexpr Ends kDark = {{0.255, -0.004, -0.030}, {0.910, -0.030, -0.065}};

std::uint8_t Encode(double linear) {
  const double clipped = std::clamp(linear, 0.0, 1.0);
  const double encoded = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * std::pow(clipped, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(encoded * 255));
}

// Converts OKLab to sRGB, with the published matrices.
Color ToRgb(const OkLab& color) {
  const double l = std::pow(color.lightness + 0.3963377774 * color.a + 0.2158037573 * color.b, 3);
  const double m = std::pow(color.lightness - 0.1055613458 * color.a - 0.0638541728 * color.b, 3);
  const double s = std::pow(color.lightness - 0.0894841775 * color.a - 1.2914855480 * color.b, 3);
  return {Encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          Encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          Encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

Color RampColor(double weight, Theme theme) {
  const auto& [zero, one] = theme == Theme::light ? kLight : kDark;
  const double t = std::clamp(weight, 0.0, 1.0);
  return ToRgb({std::lerp(zero.lightness, one.lightness, t), std::lerp(zero.a, one.a, t), std::lerp(zero.b, one.b, t)});
}

Color HeatColor(double weight) {
  const double t = std::clamp(weight, 0.0, 1.0);
  const double hue = std::lerp(315.0, 105.0, t) * std::numbers::pi / 180;
  // The chroma is near the maximum of sRGB at each lightness and hue.
  const double chroma = 0.1 + 0.36 * std::pow(std::max(0.0, t - 0.5), 2);
  return ToRgb({std::lerp(0.25, 0.92, t), chroma * std::cos(hue), chroma * std::sin(hue)});
}

}  // namespace headlight
