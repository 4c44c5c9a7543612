#include "headlight/models/files/rotary_settings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace headlight::rotary_settings_test {
namespace {

TEST(RotarySettings, DividePositions) {
  const RotarySettings settings{.base = 100, .kind = RotaryKind::linear, .factor = 4};
  EXPECT_EQ(settings.Of(4).frequencies, (std::vector<double>{0.25, 0.025}));
}

TEST(RotarySettings, DividePositionsOfLowFrequencyPairs) {
  RotarySettings settings{.base = 100, .kind = RotaryKind::llama3, .factor = 4, .slow = 1, .fast = 4};
  // The four pairs have frequencies from 1 to 0.0316. Within 64 positions they rotate 10.2, 3.2, 1.02 and 0.3 times.
  settings.first_positions = 64;
  const std::vector<double> frequencies = settings.Of(8).frequencies;
  EXPECT_EQ(frequencies[0], 1);
  const auto between = [](double frequency) {
    const double kept = (64 * frequency / (2 * std::numbers::pi) - 1) / 3;
    return kept * frequency + (1 - kept) * frequency / 4;
  };
  EXPECT_NEAR(frequencies[1], between(std::sqrt(0.1)), 1e-12);
  EXPECT_NEAR(frequencies[2], between(0.1), 1e-12);
  EXPECT_NEAR(frequencies[3], std::sqrt(0.001) / 4, 1e-12);
}

}  // namespace
}  // namespace headlight::rotary_settings_test
