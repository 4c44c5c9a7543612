#include "headlight/base/random.h"

#include <gtest/gtest.h>

namespace headlight::random_test {
namespace {

// The expected values are the known answers published with the generator (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(Philox({ones, ones, ones, ones}, {ones, ones}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Random, ResumesFromItsPosition) {
  Random whole(7, 3);
  for (int i = 0; i < 5; ++i) whole();
  Random resumed(7, 3, whole.position());
  EXPECT_EQ(whole(), resumed());
}

TEST(Random, BelowCoversItsRangeEvenly) {
  Random random(1);
  std::array<int, 5> counts{};
  for (int i = 0; i < 50000; ++i) ++counts[random.Below(5)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Random, NormalHasItsMoments) {
  Random random(2);
  double sum = 0, squares = 0;
  constexpr int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    const double value = random.Normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / draws, 0, 0.02);
  EXPECT_NEAR(squares / draws, 1, 0.03);
}

}  // namespace
}  // namespace headlight::random_test
