#include "headlight/kernels/top_k.h"

#include <limits>
#include <numeric>

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::top_k_test {
namespace {

template <typename T>
TopLogits<T> TopOf(TestMatrix<T>& x, RowCase shape, std::int64_t k, std::int64_t at_once,
                   std::span<const std::int32_t> never = {}) {
  TopLogits<T> top(shape.rows, k);
  for (std::int64_t first = 0; first < shape.columns; first += at_once)
    AddColumns<T>(x.view().Columns(first, std::min(at_once, shape.columns - first)), first, never, top);
  return top;
}

template <typename T>
void CheckAgainstSorting() {
  std::vector<RowCase> cases = RowCases();
  cases.push_back({3, 1700, 5, 1});
  for (const RowCase& shape : cases)
    ForEveryTarget([&] {
      SCOPED_TRACE(fmt::format("[{}, {}]", shape.rows, shape.columns));
      for (const double scale : {1.0, 30.0, 0.0}) {  // with 0, all logits are equal; the lower column comes first
        TestMatrix<T> x(shape, 1, scale);
        for (const std::int64_t k : {std::int64_t{1}, std::int64_t{8}, shape.columns}) {
          if (k > shape.columns) continue;
          TopLogits<T> top = TopOf(x, shape, k, 2 * kTopLogitsStep);
          const TopLogits<T> one_step_at_a_time = TopOf(x, shape, k, kTopLogitsStep);
          EXPECT_EQ(top.columns, one_step_at_a_time.columns);
          EXPECT_EQ(top.sum, one_step_at_a_time.sum);
          const std::vector<T> values = top.values;
          ToLogProbabilities(top);
          std::vector<std::int32_t> order(static_cast<std::size_t>(shape.columns));
          for (std::int64_t row = 0; row < shape.rows; ++row) {
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return x.at(row, a) > x.at(row, b); });
            double sum = 0;
            for (std::int64_t column = 0; column < shape.columns; ++column)
              sum += std::exp(double{x.at(row, column)} - double{x.at(row, order[0])});
            for (std::int64_t rank = 0; rank < k; ++rank) {
              const auto index = static_cast<std::size_t>(row * k + rank);
              ASSERT_EQ(top.columns[index], order[static_cast<std::size_t>(rank)]) << row << ", " << rank;
              ASSERT_EQ(values[index], x.at(row, top.columns[index]));
              ASSERT_NEAR(top.values[index], double{values[index]} - double{x.at(row, order[0])} - std::log(sum),
                          sizeof(T) == 4 ? 2e-5 : 1e-12);
            }
          }
        }
      }
    });
}
TEST(TopLogits, FloatMatchesSorting) { CheckAgainstSorting<float>(); }
TEST(TopLogits, DoubleMatchesSorting) { CheckAgainstSorting<double>(); }

TEST(TopLogits, CountsExcludedColumnsInTheSum) {
  ForEveryTarget([&] {
    const RowCase shape{2, 1100};
    TestMatrix<float> x(shape, 1);
    x.at(0, 3) = x.at(0, 1050) = 20;
    x.at(0, 600) = 19;
    TopLogits<float> top = TopOf(x, shape, 2, kTopLogitsStep, std::vector<std::int32_t>{1050, 3});
    ToLogProbabilities(top);
    EXPECT_EQ(top.columns[0], 600);
    EXPECT_NEAR(top.values[0], -1 - std::log(2 + std::exp(-1.0)), 1e-4);
    EXPECT_LT(top.values[1], -10);
  });
}

TEST(TopLogits, KeepsNaNAndIgnoresMinusInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  ForEveryTarget([&] {
    const RowCase shape{3, 40};
    TestMatrix<float> x(shape, 1);
    x.at(0, 33) = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(x.view().row(1), 40, -infinity);
    std::fill_n(x.view().row(2), 40, -infinity);
    x.at(2, 30) = 5;
    TopLogits<float> top = TopOf(x, shape, 3, kTopLogitsStep);
    ToLogProbabilities(top);
    for (const std::size_t index : {0, 1, 2}) EXPECT_TRUE(std::isnan(top.values[index]));
    EXPECT_EQ(top.columns[6], 30);
    EXPECT_EQ(top.values[6], 0);
    EXPECT_EQ(top.values[7], -infinity);
  });
}

}  // namespace
}  // namespace headlight::kernels::top_k_test
