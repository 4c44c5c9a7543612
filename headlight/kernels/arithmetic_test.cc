#include "headlight/kernels/arithmetic.h"

#include "headlight/base/parallel.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::arithmetic_test {
namespace {

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> a(shape, 1), b(shape, 2);
    const std::vector<T> vector = TestVector<T>(shape.columns, 3);
    TestMatrix<T> sum(shape, 0), product(shape, 0), scaled(shape, 0), shifted(shape, 0), times_first(shape, 0);
    for (auto* y : {&sum, &product, &scaled, &shifted, &times_first}) y->Unwritten();
    AddRows<T>(a.view(), b.view(), sum.view());
    MultiplyRows<T>(a.view(), b.view(), product.view());
    ScaleRows<T>(a.view(), 3, scaled.view());
    AddRows<T>({vector.data(), shape.rows, shape.columns, 0}, a.view(), shifted.view());
    MultiplyRows<T>({vector.data(), shape.rows, 1, 0}, a.view(), times_first.view());
    std::vector<T> sums = vector;
    AddColumnSums<T>(a.view(), sums.data());
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      const T element = vector[static_cast<std::size_t>(i)];
      double expected = element;
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        const double left = a.at(row, i), right = b.at(row, i);
        ASSERT_NEAR(sum.at(row, i), left + right, 2 * Tolerance<T>());
        ASSERT_NEAR(product.at(row, i), left * right, 2 * Tolerance<T>());
        ASSERT_NEAR(scaled.at(row, i), 3 * left, 2 * Tolerance<T>());
        ASSERT_EQ(shifted.at(row, i), a.at(row, i) + element);
        ASSERT_EQ(times_first.at(row, i), a.at(row, i) * vector.front());
        expected += left;
      }
      ASSERT_NEAR(sums[static_cast<std::size_t>(i)], expected, 10 * Tolerance<T>()) << i;
    }
  });
}
TEST(ArithmeticRows, ValuesInFloat) { CheckValues<float>(); }
TEST(ArithmeticRows, ValuesInDouble) { CheckValues<double>(); }

TEST(ArithmeticRows, ColumnSumsHaveTheSameBitsForAnyThreadCount) {
  const TestMatrix<float> x({5000, 40}, 1);
  std::vector<float> one(40), four(40);
  const int threads = Threads();
  SetThreads(1);
  AddColumnSums<float>(x.view(), one.data());
  SetThreads(4);
  AddColumnSums<float>(x.view(), four.data());
  SetThreads(threads);
  EXPECT_EQ(one, four);
}

TEST(ArithmeticRows, NoRows) {
  std::vector<float> sums = {1, 2};
  AddColumnSums<float>({nullptr, 0, 2, 2}, sums.data());
  EXPECT_EQ(sums, (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace headlight::kernels::arithmetic_test
