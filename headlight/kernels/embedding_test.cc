#include "headlight/kernels/embedding.h"

#include <gmock/gmock.h>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/dropout.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::embedding_test {
namespace {

constexpr std::int32_t vocab = 11, longest = 6;

std::vector<std::int32_t> Numbers(std::int64_t rows, std::int32_t limit, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(rows));
  for (auto& number : numbers) number = static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(limit)));
  return numbers;
}

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> table({vocab, shape.columns, shape.padding, shape.offset}, 1);
    const TestMatrix<T> places({longest, shape.columns, shape.padding}, 2);
    const auto ids = Numbers(shape.rows, vocab, 3), positions = Numbers(shape.rows, longest, 4);
    const Dropout dropout{0.2, 5};
    TestMatrix<T> y(shape, 0), plain(shape, 0), dropped(shape, 0);
    y.Unwritten();
    EmbeddingRows<T>(ids, table.view(), 1.5, positions, places.view(), dropout, y.view());
    EmbeddingRows<T>(ids, table.view(), 1.5, {}, {}, {}, plain.view());
    TestMatrix<T> sums = plain;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      for (std::int64_t i = 0; i < shape.columns; ++i) {
        ASSERT_EQ(plain.at(row, i), table.at(ids[at], i) * T{1.5}) << row << ", " << i;
        sums.at(row, i) += places.at(positions[at], i);
      }
    }
    DropoutRows<T>(sums.view(), dropout, dropped.view());
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t i = 0; i < shape.columns; ++i)
        ASSERT_NEAR(y.at(row, i), dropped.at(row, i), 3 * Tolerance<T>()) << row << ", " << i;
    }
  });
}
TEST(EmbeddingRows, ValuesInFloat) { CheckValues<float>(); }
TEST(EmbeddingRows, ValuesInDouble) { CheckValues<double>(); }

TEST(EmbeddingRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    const RowCase shape{9, 18, 1, 1};
    TestMatrix<double> table({vocab, 18}, 1), places({longest, 18}, 2), y(shape, 0);
    const TestMatrix<double> d_y(shape, 3);
    TestMatrix<double> d_table({vocab, 18}, 0, 0), d_places({longest, 18}, 0, 0);
    const auto ids = Numbers(shape.rows, vocab, 3), positions = Numbers(shape.rows, longest, 4);
    const Dropout dropout{0.2, 5};
    const auto forward = [&] {
      EmbeddingRows<double>(ids, table.view(), 1.5, positions, places.view(), dropout, y.view());
      return WeightedSum(d_y, y);
    };
    EmbeddingRowsGradient<double>(ids, d_y.view(), 1.5, dropout, d_table.view());
    EmbeddingRowsGradient<double>(positions, d_y.view(), 1, dropout, d_places.view());
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      for (std::int64_t id = 0; id < vocab; ++id)
        ASSERT_NEAR(d_table.at(id, i), Derivative(table.at(id, i), forward), 1e-8) << id << ", " << i;
      for (std::int64_t position = 0; position < longest; ++position)
        ASSERT_NEAR(d_places.at(position, i), Derivative(places.at(position, i), forward), 1e-8) << position;
    }
  });
}

// Checks that every row is added once, in order. Some ids occur in most of the rows, and the rows fill several chunks.
TEST(EmbeddingRows, GradientSumsInOrderForAnyThreadCount) {
  const RowCase shape{3000, 40};
  const TestMatrix<float> d_y(shape, 1);
  std::vector<std::int32_t> ids = Numbers(shape.rows, vocab, 3);
  for (std::size_t row = 0; row < ids.size(); row += 2) ids[row] = 4;
  TestMatrix<float> expected({vocab, 40}, 2), one({vocab, 40}, 2), four({vocab, 40}, 2);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t i = 0; i < 40; ++i) expected.at(ids[static_cast<std::size_t>(row)], i) += d_y.at(row, i);
  }
  const int threads = Threads();
  SetThreads(1);
  EmbeddingRowsGradient<float>(ids, d_y.view(), 1, {}, one.view());
  SetThreads(4);
  EmbeddingRowsGradient<float>(ids, d_y.view(), 1, {}, four.view());
  SetThreads(threads);
  for (std::int64_t id = 0; id < vocab; ++id) {
    for (std::int64_t i = 0; i < 40; ++i) {
      ASSERT_EQ(one.at(id, i), expected.at(id, i)) << id << ", " << i;
      ASSERT_EQ(four.at(id, i), expected.at(id, i)) << id << ", " << i;
    }
  }
}

TEST(EmbeddingRows, NamesTheRowOfAnIdOutsideTheTable) {
  const TestMatrix<float> table({4, 3}, 1);
  TestMatrix<float> y({2, 3}, 0);
  const auto error = [&](std::vector<std::int32_t> ids, std::vector<std::int32_t> positions) -> std::string {
    try {
      EmbeddingRows<float>(ids, table.view(), 1, positions, table.view(), {}, y.view());
    } catch (const Error& caught) {
      return caught.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(error({1, 4}, {0, 1}), testing::HasSubstr("id of row 1 is 4"));
  EXPECT_THAT(error({-1, 0}, {0, 1}), testing::HasSubstr("id of row 0 is -1"));
  EXPECT_THAT(error({0, 0}, {0, 7}), testing::HasSubstr("position of row 1 is 7"));
}

}  // namespace
}  // namespace headlight::kernels::embedding_test
