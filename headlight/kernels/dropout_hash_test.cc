#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/dropout_hash_test.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "headlight/kernels/dropout_hash-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

// Returns the number of lanes, among the first `count` of a row, that differ from the scalar version.
template <typename T>
int Mismatches(DropoutKey key, std::uint32_t column, std::uint32_t threshold, int count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<T> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  T kept[HWY_MAX_BYTES / sizeof(T)];
  int mismatches = 0;
  for (int begin = 0; begin < count; begin += lanes) {
    const std::uint32_t first = column + static_cast<std::uint32_t>(begin);
    hn::StoreU(hn::IfThenZeroElse(DropoutDrops(d, key, first, threshold), hn::Set(d, T{1})), d, kept);
    for (int lane = 0; lane < lanes; ++lane) {
      const bool expected = DropoutBits(key, first + static_cast<std::uint32_t>(lane)) >= threshold;
      mismatches += (kept[lane] != 0) != expected;
    }
  }
  return mismatches;
}

int MismatchesFloat(DropoutKey key, std::uint32_t column, std::uint32_t threshold, int count) {
  return Mismatches<float>(key, column, threshold, count);
}
int MismatchesDouble(DropoutKey key, std::uint32_t column, std::uint32_t threshold, int count) {
  return Mismatches<double>(key, column, threshold, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace headlight {
namespace {

HWY_EXPORT(MismatchesFloat);
HWY_EXPORT(MismatchesDouble);

TEST(DropoutHash, EveryTargetMatchesScalarCode) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const double probability : {0.0, 0.1, 0.5, 0.999}) {
      for (const std::uint32_t column : {0u, 1u, 13u, 0xFFFFFFF0u}) {
        const DropoutKey key = RowDropoutKey(7, column);
        const std::uint32_t threshold = DropoutThreshold(probability);
        EXPECT_EQ(HWY_DYNAMIC_DISPATCH(MismatchesFloat)(key, column, threshold, 1000), 0) << hwy::TargetName(target);
        EXPECT_EQ(HWY_DYNAMIC_DISPATCH(MismatchesDouble)(key, column, threshold, 1000), 0) << hwy::TargetName(target);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(DropoutHash, ThresholdIsTheProbability) {
  EXPECT_EQ(DropoutThreshold(0), 0u);
  EXPECT_EQ(DropoutThreshold(0.5), 0x80000000u);
  EXPECT_EQ(DropoutThreshold(1 - 1e-12), 0xFFFFFFFFu);
}

constexpr int rows = 1024, columns = 256;
constexpr double count = double{rows} * columns;

// Checks the rate of dropped elements, and the rate of pairs with equal outcomes. A pair is an element and its
// neighbor at distance `step` in a direction. For independent outcomes, the rates are p and p^2 + (1-p)^2. The bounds
// are five standard deviations.
TEST(DropoutHash, RateAndIndependence) {
  struct Neighbor {
    std::uint64_t seed, row;
    std::uint32_t column;
  };
  for (const double p : {0.1, 0.3, 0.5}) {
    const std::uint32_t threshold = DropoutThreshold(p);
    for (const Neighbor step : {Neighbor{0, 0, 1},
                                {0, 0, 2},
                                {0, 0, 16},
                                {0, 1, 0},
                                {0, 1, 1},
                                {0, 8, 0},
                                {1, 0, 0},
                                {2, 0, 0},
                                {std::uint64_t{1} << 32, 0, 0},
                                {0, std::uint64_t{1} << 32, 0}}) {
      double dropped = 0, same = 0;
      for (std::uint64_t row = 0; row < rows; ++row) {
        const DropoutKey one = RowDropoutKey(42, row), other = RowDropoutKey(42 + step.seed, row + step.row);
        for (std::uint32_t column = 0; column < columns; ++column) {
          const bool here = DropoutBits(one, column) < threshold;
          const bool there = DropoutBits(other, column + step.column) < threshold;
          dropped += here;
          same += here == there;
        }
      }
      const double agree = p * p + (1 - p) * (1 - p);
      EXPECT_NEAR(dropped / count, p, 5 * std::sqrt(p * (1 - p) / count));
      EXPECT_NEAR(same / count, agree, 5 * std::sqrt(agree * (1 - agree) / count))
          << "seed + " << step.seed << ", row + " << step.row << ", column + " << step.column;
    }
  }
}

TEST(DropoutHash, EveryInputBitFlipsHalfOfTheOutput) {
  for (int bit = 0; bit < 32; ++bit) {
    std::vector<double> turned(32);
    const int trials = 20000;
    for (std::uint32_t trial = 0; trial < trials; ++trial) {
      const DropoutKey key = RowDropoutKey(trial, 3);
      std::uint32_t difference = DropoutBits(key, trial) ^ DropoutBits(key, trial ^ (1u << bit));
      for (; difference; difference &= difference - 1) ++turned[std::countr_zero(difference)];
    }
    for (const double share : turned) EXPECT_NEAR(share / trials, 0.5, 0.05) << "input bit " << bit;
  }
}

}  // namespace
}  // namespace headlight
#endif
