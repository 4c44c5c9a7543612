#include "headlight/kernels/gate.h"

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::gate_test {
namespace {

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> x(shape, 1), gate(shape, 2, 4);
    TestMatrix<T> y(shape, 0), turned({shape.columns, shape.rows, 3, 1}, 0);
    y.Unwritten();
    turned.Unwritten();
    GateRows<T>(x.view(), gate.view(), y.view());
    GateTransposed<T>(x.view(), gate.view(), turned.view());
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        const double expected = x.at(row, column) / (1 + std::exp(-double{gate.at(row, column)}));
        ASSERT_NEAR(y.at(row, column), expected, 2 * Tolerance<T>());
        ASSERT_EQ(turned.at(column, row), y.at(row, column));
      }
    }
  });
}
TEST(GateRows, ValuesInFloat) { CheckValues<float>(); }
TEST(GateRows, ValuesInDouble) { CheckValues<double>(); }

TEST(GateRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    for (const RowCase shape : {RowCase{2, 1}, {2, 5, 1, 1}, {3, 19, 2}}) {
      TestMatrix<double> x(shape, 1), gate(shape, 2, 2), y(shape, 0), d_x(shape, 0), d_gate(shape, 0);
      const TestMatrix<double> d_y(shape, 3);
      const auto forward = [&] {
        GateRows<double>(x.view(), gate.view(), y.view());
        return WeightedSum(d_y, y);
      };
      GateRowsGradient<double>(x.view(), gate.view(), d_y.view(), d_x.view(), d_gate.view());
      TestMatrix<double> turned({shape.columns, shape.rows}, 0), d_x_turned(shape, 0), d_gate_turned(shape, 0);
      for (std::int64_t row = 0; row < shape.rows; ++row)
        for (std::int64_t column = 0; column < shape.columns; ++column) turned.at(column, row) = d_y.at(row, column);
      GateTransposedGradient<double>(x.view(), gate.view(), turned.view(), d_x_turned.view(), d_gate_turned.view());
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t column = 0; column < shape.columns; ++column) {
          ASSERT_NEAR(d_x.at(row, column), Derivative(x.at(row, column), forward), 1e-8);
          ASSERT_NEAR(d_gate.at(row, column), Derivative(gate.at(row, column), forward), 1e-8);
          ASSERT_EQ(d_x_turned.at(row, column), d_x.at(row, column));
          ASSERT_EQ(d_gate_turned.at(row, column), d_gate.at(row, column));
        }
      }
    }
  });
}

}  // namespace
}  // namespace headlight::kernels::gate_test
