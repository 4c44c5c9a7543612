#include "headlight/kernels/int4.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "headlight/base/random.h"
#include "headlight/kernels/gemm.h"

namespace headlight::kernels::int4_test {
namespace {

std::vector<float> Values(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

struct Column {
  explicit Column(const std::vector<float>& x)
      : codes(static_cast<std::size_t>(Int4Groups(std::ssize(x)) * kInt4GroupBytes)),
        group_scales(static_cast<std::size_t>(Int4Groups(std::ssize(x)))),
        numbers(x.size()) {
    scale = QuantizeInt4(x.data(), std::ssize(x), codes.data(), group_scales.data());
    DequantizeInt4(codes.data(), group_scales.data(), scale, std::ssize(x), numbers.data());
  }
  int Level(std::size_t k) const {
    return kInt4Levels[static_cast<std::size_t>(k % 2 == 0 ? codes[k / 2] & 0xf : codes[k / 2] >> 4)];
  }

  std::vector<std::uint8_t> codes;
  std::vector<std::int8_t> group_scales;
  float scale;
  std::vector<float> numbers;
};

// Returns the relative squared error of rounding.
double Loss(const std::vector<float>& x, const std::vector<float>& rounded) {
  double lost = 0, all = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    lost += std::pow(double{x[i]} - rounded[i], 2);
    all += std::pow(double{x[i]}, 2);
  }
  return lost / all;
}

TEST(Int4, IsAccurateToItsLevels) {
  // This figure is in kernels/int4.h and docs/learn/quantization.md.
  const std::vector<float> normal = Values(32 * 32'768, 1);
  EXPECT_NEAR(Loss(normal, Column(normal).numbers), 0.0056, 0.00006);
  // Groups have one large element of either sign and many small elements. The magnitudes of the groups differ, but a
  // column has only one scale.
  std::vector<float> outliers = Values(32 * 8, 2);
  for (std::size_t group = 0; group < 8; ++group) {
    for (std::size_t i = 0; i < 32; ++i) outliers[group * 32 + i] *= std::pow(0.7F, static_cast<float>(group));
    outliers[group * 32 + group] *= group % 2 == 0 ? 8 : -8;
  }
  EXPECT_LT(Loss(outliers, Column(outliers).numbers), 0.015);
  // Quantizing dequantized values again must change only the last bits of the scale.
  for (const std::vector<float>& x : {normal, outliers}) {
    const Column once(x), twice(once.numbers);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_FLOAT_EQ(twice.numbers[i], once.numbers[i]);
  }
}

TEST(Int4, KeepsZerosAndReportsNaN) {
  for (const float tiny : {0.0F, -0.0F, 1e-38F, std::numeric_limits<float>::denorm_min()})
    EXPECT_EQ(Column(std::vector<float>(40, tiny)).numbers, std::vector<float>(40, 0)) << tiny;
  std::vector<float> half(64, 0);  // a group of zeros next to another group
  half[40] = 3;
  const Column column(half);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(column.numbers[i], 0);
  EXPECT_FLOAT_EQ(column.numbers[40], 3);
  for (const float large : {1e-29F, 1e38F, std::numeric_limits<float>::max()}) {
    const float kept = Column(std::vector<float>(40, large)).numbers[0];
    EXPECT_NEAR(kept / large, 1, 1e-5) << large;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> x = Values(40, 3);
    x[7] = bad;
    EXPECT_TRUE(std::isnan(Column(x).scale));
  }
}

// Left and right factors, and their expected product, bit for bit.
struct Factors {
  Factors(std::int64_t row_count, std::int64_t depth_of_both, std::int64_t column_count, const std::vector<float>& left,
          const std::vector<float>& right)
      : rows(row_count),
        depth(depth_of_both),
        columns(column_count),
        values(static_cast<std::size_t>(rows * Int4Groups(depth) * kInt4Group)),
        offsets(static_cast<std::size_t>(rows * Int4Groups(depth))),
        scales(static_cast<std::size_t>(rows)),
        panel(static_cast<std::size_t>(Int4PanelBytes(depth))) {
    QuantizeInt4Rows({left.data(), rows, depth, depth}, values.data(), offsets.data(), scales.data());
    for (std::int64_t column = 0; column < columns; ++column) {
      const float* from = right.data() + column * depth;
      const Column& packed = right_side.emplace_back(std::vector<float>(from, from + depth));
      PackInt4Column(panel.data(), depth, column, packed.codes.data(), packed.group_scales.data(), packed.scale);
    }
  }

  std::vector<float> Product(const Int4Path& path, const float* bias, bool relu) const {
    std::vector<float> c(static_cast<std::size_t>(rows * (columns + 1)), -7);  // the last column must not change
    path.product({values.data(), offsets.data(), scales.data(), rows, depth}, panel.data(),
                 {c.data(), rows, columns, columns + 1}, bias, relu);
    return c;
  }

  std::vector<float> Expected(const std::vector<float>& bias) const {
    std::vector<float> c(static_cast<std::size_t>(rows * (columns + 1)), -7);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
      for (std::size_t column = 0; column < right_side.size(); ++column) {
        const Column& right = right_side[column];
        float sum = 0;
        for (std::size_t group = 0; group < right.group_scales.size(); ++group) {
          std::int32_t of_group = 0;
          for (std::size_t k = group * 32; k < group * 32 + 32; ++k)
            of_group += values[row * right.group_scales.size() * 32 + k] * right.Level(k);
          sum = std::fma(static_cast<float>(of_group), static_cast<float>(right.group_scales[group]), sum);
        }
        c[row * static_cast<std::size_t>(columns + 1) + column] =
            std::fma(sum * scales[row], right.scale, bias[column]);
      }
    return c;
  }

  std::int64_t rows, depth, columns;
  std::vector<std::int8_t> values;
  std::vector<std::int32_t> offsets;
  std::vector<float> scales;
  std::vector<std::byte> panel;
  std::vector<Column> right_side;
};

TEST(Int4, EveryImplementationGivesTheSameBits) {
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 13})
    for (const std::int64_t depth : {1, 3, 31, 32, 33, 320})
      for (const std::int64_t columns : {1, 7, 16, 33, 63, 64}) {
        SCOPED_TRACE(testing::Message() << rows << " " << depth << " " << columns);
        const auto bias = Values(columns, 3);
        const Factors factors(rows, depth, columns, Values(rows * depth, 1), Values(columns * depth, 2));
        const auto expected = factors.Expected(bias);
        for (const Int4Path& path : Int4Paths()) {
          EXPECT_TRUE(factors.Product(path, bias.data(), false) == expected) << path.name;
          const auto positive = factors.Product(path, bias.data(), true);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            const bool inside = i % static_cast<std::size_t>(columns + 1) != static_cast<std::size_t>(columns);
            ASSERT_EQ(positive[i], inside ? std::max(expected[i], 0.0F) : -7) << path.name;
          }
        }
      }
}

// Checks the largest integers, for which the sums of two products nearly fill 16 bits.
TEST(Int4, NoSumSaturates) {
  constexpr std::int64_t depth = 1024;
  for (const float left : {-1.0F, 1.0F})
    for (const float right : {-1.0F, 1.0F}) {
      const Factors factors(5, depth, 64, std::vector<float>(5 * depth, left), std::vector<float>(64 * depth, right));
      for (const Int4Path& path : Int4Paths()) {
        const auto c = factors.Product(path, nullptr, false);
        for (std::size_t i = 0; i < 64; ++i) ASSERT_NEAR(c[i], left * right * depth, 1e-2) << path.name;
      }
    }
}

TEST(Int4, PackingFromFloatsAndFromCodesIsTheSame) {
  constexpr std::int64_t rows = 9, depth = 70, columns = 150;
  const auto a = Values(rows * depth, 1), b = Values(columns * depth, 2), bias = Values(columns, 3);
  std::vector<float> transposed(b.size()), scales;
  std::vector<std::uint8_t> codes;
  std::vector<std::int8_t> group_scales;
  std::vector<Column> expected_columns;
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t k = 0; k < depth; ++k)
      transposed[static_cast<std::size_t>(k * columns + column)] = b[static_cast<std::size_t>(column * depth + k)];
    const float* from = b.data() + column * depth;
    const Column& quantized = expected_columns.emplace_back(std::vector<float>(from, from + depth));
    codes.insert(codes.end(), quantized.codes.begin(), quantized.codes.end());
    group_scales.insert(group_scales.end(), quantized.group_scales.begin(), quantized.group_scales.end());
    scales.push_back(quantized.scale);
  }
  PackedMatrix<float> from_rows(depth, columns, Compute::int4), from_columns(depth, columns, Compute::int4),
      from_codes(depth, columns, Compute::int4);
  from_rows.Pack({b.data(), columns, depth, depth}, /*transposed=*/true);
  from_columns.Pack({transposed.data(), depth, columns, columns}, /*transposed=*/false);
  from_codes.PackQuantized(codes.data(), group_scales.data(), scales.data());
  const auto product = [&](const PackedMatrix<float>& packed) {
    std::vector<float> c(rows * columns);
    Gemm<float>({a.data(), rows, depth, depth}, packed, {c.data(), rows, columns, columns}, bias.data());
    return c;
  };
  const auto expected = product(from_rows);
  EXPECT_TRUE(product(from_columns) == expected);
  EXPECT_TRUE(product(from_codes) == expected);

  for (const std::int64_t index : {0, 64, 149}) {
    std::vector<float> column(depth);
    from_rows.Column(index, column.data());
    EXPECT_EQ(column, expected_columns[static_cast<std::size_t>(index)].numbers);
  }

  // The result must be close to the float product.
  std::vector<float> exact(expected.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < columns; ++i)
      exact[static_cast<std::size_t>(row * columns + i)] =
          std::inner_product(a.data() + row * depth, a.data() + (row + 1) * depth, b.data() + i * depth,
                             bias[static_cast<std::size_t>(i)]);
  EXPECT_LT(Loss(exact, expected), 0.01);
}

}  // namespace
}  // namespace headlight::kernels::int4_test
