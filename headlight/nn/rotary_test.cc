#include "headlight/nn/rotary.h"

#include <gmock/gmock.h>

#include <cmath>

namespace headlight::rotary_test {
namespace {

TEST(RotaryPositions, MatchThePaper) {
  const RotaryPositions positions = RotaryPositions::Default(6, 100);
  const ops::RotaryAngles angles =
      positions.Angles({{0, 3}, {3, 2}}, std::vector<std::int32_t>{0, 1000}, DType::float64);
  const std::vector<double> at = {0, 1, 2, 1000, 1001};
  ASSERT_EQ(angles.indices.size(), at.size());
  for (std::size_t token = 0; token < at.size(); ++token)
    for (std::size_t i = 0; i < 3; ++i) {
      const double angle = at[token] * std::pow(100, -2 * static_cast<double>(i) / 6);
      EXPECT_EQ(angles.cosines.matrix<double>().row(angles.indices[token])[i], std::cos(angle));
      EXPECT_EQ(angles.sines.matrix<double>().row(angles.indices[token])[i], std::sin(angle));
    }
}

// Checks that the angles do not depend on other texts in the pass, even if their rows are not contiguous.
TEST(RotaryPositions, DependOnlyOnThePosition) {
  const RotaryPositions positions = RotaryPositions::Default(8, 10000);
  const ops::RotaryAngles whole = positions.Angles({{0, 40}}, {}, DType::float32);
  const ops::RotaryAngles some =
      positions.Angles({{0, 3, 2}, {1, 1}, {5, 20}}, std::vector<std::int32_t>{7, 39, 5}, DType::float32);
  const auto expect = [&](std::size_t row, std::int32_t position) {
    for (const auto& [one, other] : {std::pair(&whole.cosines, &some.cosines), {&whole.sines, &some.sines}})
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(other->matrix<float>().row(some.indices[row])[i],
                  one->matrix<float>().row(whole.indices[static_cast<std::size_t>(position)])[i]);
  };
  expect(0, 7);
  expect(2, 8);
  expect(4, 9);
  expect(1, 39);
  for (std::int32_t i = 0; i < 20; ++i) expect(static_cast<std::size_t>(5 + i), 5 + i);
}

TEST(RotaryPositions, RotatePairs) {
  EXPECT_EQ(RotaryPositions::Default(8, 10000, 4).frequencies.size(), 2U);
  for (const std::int64_t turned : {3, 10})
    EXPECT_THAT([&] { RotaryPositions::Default(8, 10000, turned); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("8 features")));
}

}  // namespace
}  // namespace headlight::rotary_test
