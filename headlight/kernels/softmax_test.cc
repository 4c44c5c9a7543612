#include "headlight/kernels/softmax.h"

#include <bit>
#include <limits>

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::softmax_test {
namespace {

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> x(shape, 1, 5);
    TestMatrix<T> weights(shape, 0);
    weights.Unwritten();
    SoftmaxRows<T>(x.view(), weights.view());
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      double sum = 0;
      for (std::int64_t column = 0; column < shape.columns; ++column) sum += std::exp(double{x.at(row, column)});
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        const double weight = std::exp(double{x.at(row, column)}) / sum;
        ASSERT_NEAR(weights.at(row, column), weight, weight * Tolerance<T>()) << row << ", " << column;
      }
    }
  });
}
TEST(SoftmaxRows, ValuesInFloat) { CheckValues<float>(); }
TEST(SoftmaxRows, ValuesInDouble) { CheckValues<double>(); }

TEST(SoftmaxRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    for (const RowCase shape : {RowCase{2, 1}, {2, 5, 1, 1}, {3, 19, 2}}) {
      TestMatrix<double> x(shape, 1), y(shape, 0), d_x(shape, 0);
      const TestMatrix<double> d_y(shape, 2);
      const auto forward = [&] {
        SoftmaxRows<double>(x.view(), y.view());
        return WeightedSum(d_y, y);
      };
      forward();
      SoftmaxRowsGradient<double>(y.view(), d_y.view(), d_x.view());
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t column = 0; column < shape.columns; ++column)
          ASSERT_NEAR(d_x.at(row, column), Derivative(x.at(row, column), forward), 1e-8) << row << ", " << column;
      }
    }
  });
}

TEST(SoftmaxRows, GradientInFloatMatchesDouble) {
  ForEveryCase([](RowCase shape) {
    TestMatrix<float> y(shape, 1, 0.1), d_y(shape, 2), d_x(shape, 0);
    TestMatrix<double> wide_d_x(shape, 0), wide_y(shape, 1, 0.1), wide_d_y(shape, 2);
    SoftmaxRowsGradient<float>(y.view(), d_y.view(), d_x.view());
    SoftmaxRowsGradient<double>(wide_y.view(), wide_d_y.view(), wide_d_x.view());
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        ASSERT_NEAR(d_x.at(row, column), wide_d_x.at(row, column), 2e-5);
      }
    }
  });
}

TEST(SoftmaxRows, WorksInPlace) {
  const RowCase shape{3, 37, 1, 1};
  TestMatrix<float> x(shape, 1), y(shape, 0);
  SoftmaxRows<float>(x.view(), y.view());
  SoftmaxRows<float>(x.view(), x.view());
  for (std::int64_t column = 0; column < shape.columns; ++column) EXPECT_EQ(x.at(2, column), y.at(2, column));
}

TEST(SoftmaxRows, LargeNumbersAndInfinities) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::bit_cast<float>(0xFFFFFFFFu);
  ForEveryTarget([&] {
    for (const std::int64_t columns : {3, 16, 37}) {
      const RowCase shape{6, columns};
      TestMatrix<float> x(shape, 0, 0), y(shape, 0);
      x.at(0, 1) = 3e38F;          // receives all the weight, without overflow
      x.at(1, 0) = -infinity;      // receives weight 0
      x.at(2, columns - 1) = nan;  // makes the whole row NaN
      for (std::int64_t i = 0; i < columns; ++i) x.at(3, i) = -infinity;
      x.at(4, 1) = infinity;
      for (std::int64_t i = 0; i < columns; ++i) x.at(5, i) = -3e38F;
      SoftmaxRows<float>(x.view(), y.view());
      EXPECT_EQ(y.at(0, 1), 1);
      EXPECT_EQ(y.at(0, 0), 0);
      EXPECT_EQ(y.at(1, 0), 0);
      EXPECT_NEAR(y.at(1, 1), 1.0 / static_cast<double>(columns - 1), 1e-6);
      for (const std::int64_t row : {2, 3, 4}) {
        for (std::int64_t i = 0; i < columns; ++i) {
          EXPECT_TRUE(std::isnan(y.at(row, i))) << row << ", " << i;
        }
      }
      EXPECT_NEAR(y.at(5, 0), 1.0 / static_cast<double>(columns), 1e-6);
    }
  });
}

}  // namespace
}  // namespace headlight::kernels::softmax_test
