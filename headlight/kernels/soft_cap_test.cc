#include "headlight/kernels/soft_cap.h"

#include <cmath>
#include <limits>

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::soft_cap_test {
namespace {

template <typename T>
void CheckValuesAndSlopes() {
  ForEveryCase([](RowCase shape) {
    for (const double cap : {0.5, 30.0}) {
      const TestMatrix<T> x(shape, 1, cap), d_y(shape, 2);
      TestMatrix<T> y(shape, 0), d_x(shape, 0);
      y.Unwritten();
      d_x.Unwritten();
      SoftCapRows<T>(x.view(), static_cast<T>(cap), y.view());
      SoftCapRowsGradient<T>(y.view(), static_cast<T>(cap), d_y.view(), d_x.view());
      for (std::int64_t row = 0; row < shape.rows; ++row)
        for (std::int64_t i = 0; i < shape.columns; ++i) {
          const double tangent = std::tanh(x.at(row, i) / cap);
          ASSERT_NEAR(y.at(row, i), cap * tangent, Tolerance<T>() * cap) << x.at(row, i);
          ASSERT_NEAR(d_x.at(row, i), d_y.at(row, i) * (1 - tangent * tangent), 2 * Tolerance<T>()) << x.at(row, i);
        }
    }
  });
}
TEST(SoftCapRows, InFloat) { CheckValuesAndSlopes<float>(); }
TEST(SoftCapRows, InDouble) { CheckValuesAndSlopes<double>(); }

// Checks that small values keep their precision, large values reach the cap, and NaN stays NaN.
TEST(SoftCapRows, KeepsSmallNumbersAndLimits) {
  const float infinity = std::numeric_limits<float>::infinity();
  ForEveryTarget([&] {
    std::vector<float> x = {1e-6f, -3e-3f, 1e30f, infinity, -infinity, std::nanf(""), 0.0f, -0.01f, 5e3f};
    SoftCapRows<float>({x.data(), 1, 9, 9}, 30, {x.data(), 1, 9, 9});
    EXPECT_NEAR(x[0], 1e-6, 1e-12);
    EXPECT_NEAR(x[1], -3e-3, 3e-9);
    EXPECT_EQ(x[2], 30);
    EXPECT_EQ(x[3], 30);
    EXPECT_EQ(x[4], -30);
    EXPECT_TRUE(std::isnan(x[5]));
    EXPECT_EQ(x[6], 0);
    EXPECT_NEAR(x[7], -0.01, 1e-8);
    EXPECT_EQ(x[8], 30);
  });
}

// Checks that an element has the same bits with any neighbors, at the start, inside or at the end of a row.
TEST(SoftCapRows, ElementsHaveTheSameBitsAnywhere) {
  ForEveryTarget([] {
    for (double at = -40; at < 40; at += 0.37) {
      const auto value = static_cast<float>(at);
      float alone = 0;
      SoftCapRows<float>({&value, 1, 1, 1}, 7, {&alone, 1, 1, 1});
      for (std::int64_t columns = 1; columns < 36; ++columns) {
        std::vector<float> row(static_cast<std::size_t>(columns), value);
        SoftCapRows<float>({row.data(), 1, columns, columns}, 7, {row.data(), 1, columns, columns});
        for (const float other : row) ASSERT_EQ(other, alone) << at << " in " << columns;
      }
    }
  });
}

}  // namespace
}  // namespace headlight::kernels::soft_cap_test
