#include "headlight/kernels/transpose.h"

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::transpose_test {
namespace {

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> x(shape, 1);
    TestMatrix<T> y({shape.columns, shape.rows, 2, 1}, 0), block({shape.columns, shape.rows}, 0);
    y.Unwritten();
    block.Unwritten();
    Transpose<T>(x.view(), y.view());
    TransposeBlock<T>(x.view(), block.view());
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        ASSERT_EQ(y.at(column, row), x.at(row, column)) << row << ", " << column;
        ASSERT_EQ(block.at(column, row), x.at(row, column)) << row << ", " << column;
      }
    }
  });
}
TEST(Transpose, ValuesInFloat) { CheckValues<float>(); }
TEST(Transpose, ValuesInDouble) { CheckValues<double>(); }

}  // namespace
}  // namespace headlight::kernels::transpose_test
