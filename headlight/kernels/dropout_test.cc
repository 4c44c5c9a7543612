#include "headlight/kernels/dropout.h"

#include <limits>

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::dropout_test {
namespace {

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> x(shape, 1), sublayer(shape, 2);
    TestMatrix<T> dropped(shape, 0), y(shape, 0);
    for (const double probability : {0.0, 0.1, 0.5}) {
      const Dropout dropout{probability, 9};
      dropped.Unwritten();
      y.Unwritten();
      DropoutRows<T>(sublayer.view(), dropout, dropped.view());
      ResidualRows<T>(x.view(), sublayer.view(), dropout, y.view());
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        const DropoutKey key = RowDropoutKey(dropout.seed, static_cast<std::uint64_t>(row));
        for (std::int64_t i = 0; i < shape.columns; ++i) {
          const bool kept = DropoutBits(key, static_cast<std::uint32_t>(i)) >= DropoutThreshold(probability);
          const double expected = kept ? sublayer.at(row, i) / (1 - probability) : 0;
          ASSERT_NEAR(dropped.at(row, i), expected, Tolerance<T>()) << row << ", " << i;
          ASSERT_EQ(y.at(row, i), x.at(row, i) + dropped.at(row, i)) << row << ", " << i;
        }
      }
    }
  });
}
TEST(DropoutRows, ValuesInFloat) { CheckValues<float>(); }
TEST(DropoutRows, ValuesInDouble) { CheckValues<double>(); }

TEST(DropoutRows, DropsItsShareAndKeepsTheMean) {
  const RowCase shape{512, 256};
  TestMatrix<double> x(shape, 0, 0), y(shape, 0);
  for (std::int64_t row = 0; row < shape.rows; ++row) std::fill_n(x.view().row(row), shape.columns, 1.0);
  DropoutRows<double>(x.view(), {0.1, 3}, y.view());
  double sum = 0;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t i = 0; i < shape.columns; ++i) sum += y.at(row, i);
  }
  EXPECT_NEAR(sum / (512 * 256), 1, 0.005);
}

TEST(DropoutRows, DropsNaNToZero) {
  const RowCase shape{1, 64};
  TestMatrix<float> x(shape, 0), y(shape, 0);
  std::fill_n(x.view().row(0), 64, std::numeric_limits<float>::quiet_NaN());
  DropoutRows<float>(x.view(), {0.5, 3}, y.view());
  std::int64_t zeros = 0;
  for (std::int64_t i = 0; i < 64; ++i) zeros += y.at(0, i) == 0;
  EXPECT_GT(zeros, 15);
  EXPECT_LT(zeros, 49);
}

}  // namespace
}  // namespace headlight::kernels::dropout_test
