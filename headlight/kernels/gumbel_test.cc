#include "headlight/kernels/gumbel.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headlight/kernels/dropout_hash.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::gumbel_test {
namespace {

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    TestMatrix<T> y(shape, 0);
    y.Unwritten();
    GumbelRows<T>(9, y.view());
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const DropoutKey key = RowDropoutKey(9, static_cast<std::uint64_t>(row));
      for (std::int64_t i = 0; i < shape.columns; ++i) {
        const double uniform = ((DropoutBits(key, static_cast<std::uint32_t>(i)) >> 9) + 0.5) * 0x1p-23;
        const double expected = -std::log(-std::log(uniform));
        ASSERT_NEAR(y.at(row, i), expected, (sizeof(T) == 4 ? 1e-6 : 1e-14) * std::max(1.0, std::abs(expected)));
      }
    }
  });
}
TEST(GumbelRows, ValuesInFloat) { CheckValues<float>(); }
TEST(GumbelRows, ValuesInDouble) { CheckValues<double>(); }

// Checks that the noise is finite even if the hash is all zeros or all ones.
TEST(GumbelRows, ExtremesAreFinite) {
  for (const double bits : {0.0, 0x1p23 - 1}) {
    const auto uniform = static_cast<float>((bits + 0.5) * 0x1p-23);
    EXPECT_GT(uniform, 0);
    EXPECT_LT(uniform, 1);
  }
}

TEST(GumbelRows, TheArgmaxIsASampleFromTheSoftmax) {
  const RowCase shape{40'000, 4};
  TestMatrix<float> noise(shape, 0);
  GumbelRows<float>(3, noise.view());
  const std::vector<double> probabilities = {0.1, 0.2, 0.3, 0.4};
  std::vector<double> found(4);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    std::vector<double> sums;
    for (std::size_t i = 0; i < 4; ++i)
      sums.push_back(std::log(probabilities[i]) + noise.at(row, static_cast<std::int64_t>(i)));
    found[static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin())] += 1.0 / 40'000;
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], probabilities[i], 0.01);  // four standard deviations
}

}  // namespace
}  // namespace headlight::kernels::gumbel_test
