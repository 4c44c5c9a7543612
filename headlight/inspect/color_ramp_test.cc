#include "headlight/inspect/color_ramp.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headlight::color_ramp_test {
namespace {

// Returns the CIE lightness, from 0 to 100, which is independent of the ramp's color space, OKLab.
double Lightness(Color color) {
  const auto linear = [](int part) {
    const double value = part / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  const double y = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

TEST(RampColor, LightnessIsLinearInTheWeight) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const double sign = theme == Theme::light ? -1 : 1;
    const double range = sign * (Lightness(RampColor(1, theme)) - Lightness(RampColor(0, theme)));
    EXPECT_GT(range, 65);
    for (int i = 0; i < 20; ++i) {
      const double step = sign * (Lightness(RampColor((i + 1) / 20.0, theme)) - Lightness(RampColor(i / 20.0, theme)));
      EXPECT_NEAR(step, range / 20, 1.2) << i;  // equal steps, up to rounding and the different color spaces
    }
  }
}

TEST(HeatColor, LightnessIsLinearInTheWeight) {
  const double range = Lightness(HeatColor(1)) - Lightness(HeatColor(0));
  EXPECT_GT(range, 70);
  for (int i = 0; i < 20; ++i)
    EXPECT_NEAR(Lightness(HeatColor((i + 1) / 20.0)) - Lightness(HeatColor(i / 20.0)), range / 20, 1.5) << i;
}

TEST(HeatColor, GoesFromVioletToYellow) {
  const Color low = HeatColor(0), high = HeatColor(1);
  EXPECT_GT(low.blue, low.green);
  EXPECT_GT(high.red, 200);
  EXPECT_GT(high.green, 200);
  EXPECT_LT(high.blue, 128);
}

TEST(RampColor, ClampsWeights) {
  EXPECT_EQ(RampColor(-1, Theme::light), RampColor(0, Theme::light));
  EXPECT_EQ(RampColor(1.001, Theme::dark), RampColor(1, Theme::dark));
}

}  // namespace
}  // namespace headlight::color_ramp_test
