#include "headlight/kernels/int8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/kernels/gemm.h"

namespace headlight::kernels::int8_test {
namespace {

std::vector<float> Values(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

// The int8 operands of a product.
struct Factors {
  Factors(std::int64_t row_count, std::int64_t its_depth, std::int64_t column_count,
          const std::vector<float>& left_values, const std::vector<float>& right)
      : left(left_values),
        scales(static_cast<std::size_t>(row_count)),
        panel(static_cast<std::size_t>(Int8PanelBytes(its_depth))),
        rows(row_count),
        depth(its_depth),
        columns(column_count) {
    quantized.resize(static_cast<std::size_t>(columns * depth));
    for (std::int64_t column = 0; column < columns; ++column) {
      std::int8_t* to = quantized.data() + column * depth;
      column_scales.push_back(QuantizeRow(right.data() + column * depth, depth, to));
      PackInt8Column(panel.data(), depth, column, to, column_scales.back());
    }
  }
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;

  std::vector<float> Product(const Int8Path& path, const float* bias, bool relu, const float* added = nullptr) const {
    std::vector<float> c(static_cast<std::size_t>(rows * (columns + 1)), -7);  // the last column must not change
    const std::vector<std::uint8_t> values = Left(path.zero);
    path.product({values.data(), scales.data(), rows, depth}, panel.data(), {c.data(), rows, columns, columns + 1},
                 {.added = {added, rows, columns, columns}, .bias = bias, .relu = relu}, panel.data());
    return c;
  }

  // Returns the quantized rows, and sets their scales.
  std::vector<std::uint8_t> Left(std::uint8_t zero) const {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(rows * Int8Stride(depth)));
    QuantizeRows({left.data(), rows, depth, depth}, zero, values.data(), scales.data());
    return values;
  }

  std::vector<float> left;
  mutable std::vector<float> scales;
  std::vector<float> column_scales;
  std::vector<std::byte> panel;
  std::vector<std::int8_t> quantized;
  std::int64_t rows, depth, columns;
};

TEST(Int8, IsTheExactSumOfTheIntegers) {
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 13})
    for (const std::int64_t depth : {1, 3, 4, 31, 512})
      for (const std::int64_t columns : {1, 15, 16, 17, 63, 64}) {
        SCOPED_TRACE(testing::Message() << rows << " " << depth << " " << columns);
        const auto bias = Values(columns, 3), added = Values(rows * columns, 4);
        const Factors factors(rows, depth, columns, Values(rows * depth, 1), Values(columns * depth, 2));
        const std::vector<std::uint8_t> values = factors.Left(128);
        std::vector<float> expected(static_cast<std::size_t>(rows * (columns + 1)), -7);
        for (std::int64_t row = 0; row < rows; ++row)
          for (std::int64_t column = 0; column < columns; ++column) {
            std::int32_t sum = 0;
            for (std::int64_t k = 0; k < depth; ++k)
              sum += (values[static_cast<std::size_t>(row * Int8Stride(depth) + k)] - 128) *
                     factors.quantized[static_cast<std::size_t>(column * depth + k)];
            expected[static_cast<std::size_t>(row * (columns + 1) + column)] = std::fma(
                static_cast<float>(sum) * factors.scales[static_cast<std::size_t>(row)],
                factors.column_scales[static_cast<std::size_t>(column)], bias[static_cast<std::size_t>(column)]);
          }
        for (const Int8Path& path : Int8Paths()) {
          EXPECT_TRUE(factors.Product(path, bias.data(), false) == expected) << path.name;
          const auto positive = factors.Product(path, bias.data(), true);
          const auto sum = factors.Product(path, bias.data(), true, added.data());
          for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t row = i / static_cast<std::size_t>(columns + 1),
                              column = i % static_cast<std::size_t>(columns + 1);
            const bool inside = column != static_cast<std::size_t>(columns);
            ASSERT_EQ(positive[i], inside ? std::max(expected[i], 0.0F) : -7) << path.name;
            const float more = inside ? added[row * static_cast<std::size_t>(columns) + column] : 0;
            ASSERT_EQ(sum[i], inside ? std::max(expected[i] + more, 0.0F) : -7) << path.name;
          }
        }
      }
}

TEST(Int8, FewRowsUseTheirFastestPath) {
  EXPECT_EQ(&Int8PathFor(1000), &Int8Paths().front());
  EXPECT_EQ(Int8PathFor(1).least_rows, 1);
  for (const Int8Path& path : Int8Paths()) EXPECT_LE(Int8PathFor(path.least_rows).least_rows, path.least_rows);
}

// Checks the largest integers, for which the sums of two products exceed 16 bits.
TEST(Int8, NoSumSaturates) {
  constexpr std::int64_t depth = 1024;
  for (const std::int64_t rows : {1, 2, 6})
    for (const float left : {-1.0F, 1.0F})
      for (const float right : {-1.0F, 1.0F}) {
        const Factors factors(rows, depth, 64, std::vector<float>(static_cast<std::size_t>(rows * depth), left),
                              std::vector<float>(64 * depth, right));
        for (const Int8Path& path : Int8Paths()) {
          const auto c = factors.Product(path, nullptr, false);
          for (std::size_t i = 0; i < 64; ++i) ASSERT_NEAR(c[i], left * right * depth, 1e-3) << path.name;
        }
      }
}

TEST(Int8, QuantizesToNearest) {
  const std::vector<float> x = {0, 1.27F, -1.27F, 0.004F, 0.006F, -0.006F, 0.6351F};
  std::vector<std::int8_t> quantized(x.size());
  EXPECT_FLOAT_EQ(QuantizeRow(x.data(), static_cast<std::int64_t>(x.size()), quantized.data()), 0.01F);
  EXPECT_EQ(quantized, (std::vector<std::int8_t>{0, 127, -127, 0, 1, -1, 64}));
  for (const std::int64_t count : {1, 7, 16, 64, 1000}) {
    const auto values = Values(count, static_cast<std::uint64_t>(count));
    quantized.resize(values.size());
    const float scale = QuantizeRow(values.data(), count, quantized.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(std::abs(scale * quantized[i] - values[i]), scale * 0.5001F);
      ASSERT_LE(std::abs(quantized[i]), 127);
    }
    // Rows of a left-hand side must have the same integers plus `zero`, followed by padding of `zero`.
    for (const std::uint8_t zero : {std::uint8_t{0}, std::uint8_t{128}}) {
      std::vector<std::uint8_t> row(static_cast<std::size_t>(Int8Stride(count)));
      float row_scale = 0;
      QuantizeRows({values.data(), 1, count, count}, zero, row.data(), &row_scale);
      EXPECT_EQ(row_scale, scale);
      for (std::size_t i = 0; i < row.size(); ++i)
        ASSERT_EQ(row[i], static_cast<std::uint8_t>(zero + (i < values.size() ? quantized[i] : 0)));
    }
  }
}

TEST(Int8, KeepsZerosAndReportsNaN) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> right(64 * 8, 0.5F);
  const auto row_of = [](float value) { return std::vector<float>{1, 2, 3, value, 4, 5, 6, 7}; };
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()})
    for (const Int8Path& path : Int8Paths())
      for (const bool relu : {false, true})
        EXPECT_TRUE(std::isnan(Factors(1, 8, 64, row_of(bad), right).Product(path, nullptr, relu)[0])) << path.name;
  for (const float tiny : {0.0F, -0.0F, 1e-38F, std::numeric_limits<float>::denorm_min()})
    for (const Int8Path& path : Int8Paths())
      EXPECT_EQ(Factors(1, 8, 64, std::vector<float>(8, tiny), right).Product(path, nullptr, false)[0], 0) << path.name;
}

TEST(Int8, PackingFromFloatsAndFromIntegersIsTheSame) {
  constexpr std::int64_t rows = 9, depth = 70, columns = 150;
  const auto a = Values(rows * depth, 1), b = Values(columns * depth, 2), bias = Values(columns, 3);
  std::vector<float> transposed(b.size());
  std::vector<std::int8_t> quantized(b.size());
  std::vector<float> scales(columns);
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t k = 0; k < depth; ++k)
      transposed[static_cast<std::size_t>(k * columns + column)] = b[static_cast<std::size_t>(column * depth + k)];
    scales[static_cast<std::size_t>(column)] =
        QuantizeRow(b.data() + column * depth, depth, quantized.data() + column * depth);
  }
  PackedMatrix<float> from_rows(depth, columns, Compute::int8), from_columns(depth, columns, Compute::int8),
      from_integers(depth, columns, Compute::int8);
  from_rows.Pack({b.data(), columns, depth, depth}, /*transposed=*/true);
  from_columns.Pack({transposed.data(), depth, columns, columns}, /*transposed=*/false);
  from_integers.PackQuantized({quantized.data(), columns, depth, depth}, scales.data());
  const auto product = [&](const PackedMatrix<float>& packed) {
    std::vector<float> c(rows * columns);
    Gemm<float>({a.data(), rows, depth, depth}, packed, {c.data(), rows, columns, columns}, bias.data());
    return c;
  };
  const auto expected = product(from_rows);
  EXPECT_TRUE(product(from_columns) == expected);
  EXPECT_TRUE(product(from_integers) == expected);

  std::vector<float> column(depth);
  from_rows.Column(149, column.data());
  for (std::int64_t k = 0; k < depth; ++k)
    EXPECT_EQ(column[static_cast<std::size_t>(k)],
              scales[149] * static_cast<float>(quantized[static_cast<std::size_t>(149 * depth + k)]));

  // The result must be close to the float product. Each integer is off by at most half a step.
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < columns; ++i) {
      double exact = bias[static_cast<std::size_t>(i)];
      for (std::int64_t k = 0; k < depth; ++k)
        exact += double{a[static_cast<std::size_t>(row * depth + k)]} * b[static_cast<std::size_t>(i * depth + k)];
      EXPECT_NEAR(expected[static_cast<std::size_t>(row * columns + i)], exact, 0.5);
    }
}

}  // namespace
}  // namespace headlight::kernels::int8_test
