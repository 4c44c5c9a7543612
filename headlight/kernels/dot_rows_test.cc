#include "headlight/kernels/dot_rows.h"

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::dot_rows_test {
namespace {

template <typename T>
void CheckValues() {
  ForEveryCase([](const RowCase& shape) {
    const TestMatrix<T> rows(shape, 1);
    const std::vector<T> vector = TestVector<T>(shape.columns, 2);
    std::vector<T> products(static_cast<std::size_t>(shape.rows), T{-1});
    DotRows<T>(rows.view(), vector.data(), products.data());
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      double sum = 0;
      for (std::int64_t i = 0; i < shape.columns; ++i)
        sum += static_cast<double>(rows.at(row, i)) * static_cast<double>(vector[static_cast<std::size_t>(i)]);
      ASSERT_NEAR(products[static_cast<std::size_t>(row)], sum,
                  Tolerance<T>() * static_cast<double>(shape.columns + 4));
    }
  });
}
TEST(DotRows, ValuesInFloat) { CheckValues<float>(); }
TEST(DotRows, ValuesInDouble) { CheckValues<double>(); }

}  // namespace
}  // namespace headlight::kernels::dot_rows_test
