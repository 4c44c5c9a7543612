#include "headlight/kernels/top_k.h"

#include <limits>
#include <numeric>

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels {
namespace {

template <typename T>
void CheckAgainstSorting() {
  ForEveryCase([](RowCase shape) {
    for (const double scale : {1.0, 0.0}) {  // 0: all equal, then the lower column comes first
      const TestMatrix<T> x(shape, 1, scale);
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{8}, shape.columns}) {
        if (k > shape.columns) continue;
        TestMatrix<T> values({shape.rows, k, 1}, 0);
        TestMatrix<std::int32_t> columns({shape.rows, k, 2}, 0);
        values.Unwritten();
        columns.Unwritten();
        TopKRows<T>(x.view(), values.view(), columns.view());
        std::vector<std::int32_t> order(static_cast<std::size_t>(shape.columns));
        for (std::int64_t row = 0; row < shape.rows; ++row) {
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return x.at(row, a) > x.at(row, b); });
          for (std::int64_t rank = 0; rank < k; ++rank) {
            ASSERT_EQ(columns.at(row, rank), order[static_cast<std::size_t>(rank)]) << row << ", " << rank;
            ASSERT_EQ(values.at(row, rank), x.at(row, columns.at(row, rank)));
          }
        }
      }
    }
  });
}
TEST(TopKRows, FloatMatchesSorting) { CheckAgainstSorting<float>(); }
TEST(TopKRows, DoubleMatchesSorting) { CheckAgainstSorting<double>(); }

TEST(TopKRows, NaNShowsAndInfinityDoesNot) {
  const float infinity = std::numeric_limits<float>::infinity();
  ForEveryTarget([&] {
    TestMatrix<float> x({2, 40}, 1), values({2, 3}, 0);
    TestMatrix<std::int32_t> columns({2, 3}, 0);
    x.at(0, 33) = std::numeric_limits<float>::quiet_NaN();
    x.at(0, 2) = infinity;
    std::fill_n(x.view().row(1), 40, -infinity);
    TopKRows<float>(x.view(), values.view(), columns.view());
    EXPECT_EQ(columns.at(0, 0), 33);
    EXPECT_TRUE(std::isnan(values.at(0, 0)));
    EXPECT_EQ(columns.at(0, 1), 2);
    EXPECT_EQ(columns.at(1, 2), 2);
    EXPECT_EQ(values.at(1, 2), -infinity);
  });
}

}  // namespace
}  // namespace headlight::kernels
