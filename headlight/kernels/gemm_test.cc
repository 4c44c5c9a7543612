#include "headlight/kernels/gemm.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::gemm_test {
namespace {

template <typename T>
std::vector<T> Values(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(2 * random.Uniform() - 1);
  return values;
}

// Returns matrix elements that are exact in every compute type.
template <typename T>
std::vector<T> Factors(std::int64_t count, std::uint64_t seed, Compute compute) {
  std::vector<T> values = Values<T>(count, seed);
  if (compute == Compute::bfloat16)
    for (T& value : values) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(float(value)) & 0xffff0000U);
  return values;
}

template <typename T>
std::vector<Compute> Computes() {
  if (std::is_same_v<T, float> && CpuHas(Compute::bfloat16)) return {Compute::float32, Compute::bfloat16};
  return {Compute::float32};
}

struct Case {
  std::int64_t rows, depth, columns;
};
// The sizes are tiny sizes, whole tiles and panels, and sizes that differ from these by one.
const std::vector<Case> kCases = {{1, 1, 1},     {3, 5, 2},       {4, 16, 16},    {15, 7, 33},    {64, 64, 256},
                                  {65, 31, 257}, {131, 100, 500}, {200, 256, 70}, {79, 513, 19},  {1300, 9, 21},
                                  {0, 4, 4},     {5, 0, 7},       {801, 200, 20}, {801, 20, 130}, {401, 270, 330}};

template <typename T>
class GemmTest : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GemmTest, Scalars);

template <typename T>
void CheckProducts(Compute compute) {
  for (const Case& test : kCases) {
    for (const bool transposed : {false, true}) {
      // Each row has one more element, and an element precedes the first row, so that matrices are strided and
      // unaligned.
      const std::int64_t a_stride = test.depth + 1, c_stride = test.columns + 1;
      const auto a = Factors<T>(test.rows * a_stride + 1, 1, compute),
                 b = Factors<T>(test.depth * test.columns, 2, compute), bias = Values<T>(test.columns, 3);
      std::vector<double> products(static_cast<std::size_t>(test.rows * test.columns));
      for (std::int64_t i = 0; i < std::ssize(products); ++i) {
        const T* const left = a.data() + 1 + i / test.columns * a_stride;
        const T* right = b.data() + i % test.columns * (transposed ? test.depth : 1);
        double sum = 0;
        for (std::int64_t k = 0; k < test.depth; ++k, right += transposed ? 1 : test.columns)
          sum += static_cast<double>(left[k]) * *right;
        products[static_cast<std::size_t>(i)] = sum;
      }
      // The modes are plain, bias, bias and relu, accumulate, and bias and silu. The packing of b does not depend on
      // the mode.
      for (const int mode : transposed ? std::vector{1} : std::vector{0, 1, 2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << test.rows << " " << test.depth << " " << test.columns << " mode " << mode);
        auto c = Values<T>(test.rows * c_stride + 1, 4);
        const auto before = c;
        PackedMatrix<T> packed(test.depth, test.columns, compute);
        packed.Pack(transposed ? Matrix<const T>{b.data(), test.columns, test.depth, test.depth}
                               : Matrix<const T>{b.data(), test.depth, test.columns, test.columns},
                    transposed);
        Gemm<T>({a.data() + 1, test.rows, test.depth, a_stride}, packed,
                {c.data() + 1, test.rows, test.columns, c_stride}, mode == 0 || mode == 3 ? nullptr : bias.data(),
                mode == 2   ? Activation::relu
                : mode == 4 ? Activation::silu
                            : Activation::none,
                mode == 3);
        for (std::int64_t row = 0; row < test.rows; ++row) {
          for (std::int64_t column = 0; column < test.columns; ++column) {
            const auto at = static_cast<std::size_t>(1 + row * c_stride + column);
            double sum = mode == 3 ? before[at] : mode == 0 ? 0.0 : bias[static_cast<std::size_t>(column)];
            sum += products[static_cast<std::size_t>(row * test.columns + column)];
            if (mode == 2) sum = std::max(sum, 0.0);
            if (mode == 4) sum /= 1 + std::exp(-sum);
            const double of_activation = mode == 4 ? 1e-6 : 0;
            ASSERT_NEAR(c[at], sum, 1e-6 * std::sqrt(static_cast<double>(test.depth)) * 4 + of_activation);
          }
          ASSERT_EQ(c[static_cast<std::size_t>(row * c_stride)], before[static_cast<std::size_t>(row * c_stride)]);
        }
      }
    }
  }
}

TYPED_TEST(GemmTest, MatchesPlainLoops) {
  for (const Compute compute : Computes<TypeParam>()) ForEveryTarget([&] { CheckProducts<TypeParam>(compute); });
}

template <typename T>
void CheckTransposedProducts(Compute compute) {
  for (const Case& test : kCases) {  // c is [depth, columns]
    const auto a = Factors<T>(test.rows * test.depth, 1, compute), b = Factors<T>(test.rows * test.columns, 2, compute);
    auto c = Values<T>(test.depth * test.columns, 3);
    const auto before = c;
    GemmTransposed<T>({a.data(), test.rows, test.depth, test.depth}, {b.data(), test.rows, test.columns, test.columns},
                      {c.data(), test.depth, test.columns, test.columns}, compute);
    for (std::int64_t i = 0; i < test.depth; ++i) {
      for (std::int64_t j = 0; j < test.columns; ++j) {
        double sum = before[static_cast<std::size_t>(i * test.columns + j)];
        for (std::int64_t k = 0; k < test.rows; ++k)
          sum += static_cast<double>(a[static_cast<std::size_t>(k * test.depth + i)]) *
                 b[static_cast<std::size_t>(k * test.columns + j)];
        ASSERT_NEAR(c[static_cast<std::size_t>(i * test.columns + j)], sum,
                    1e-6 * std::sqrt(static_cast<double>(test.rows) + 1) * 4);
      }
    }
  }
}

TYPED_TEST(GemmTest, TransposedMatchesPlainLoops) {
  for (const Compute compute : Computes<TypeParam>())
    ForEveryTarget([&] { CheckTransposedProducts<TypeParam>(compute); });
}

TYPED_TEST(GemmTest, TransposedHasTheSameBitsAtAnyThreadCount) {
  constexpr std::int64_t rows = 801, m = 300, n = 500;
  const auto a = Values<TypeParam>(rows * m, 1), b = Values<TypeParam>(rows * n, 2);
  const int before = Threads();
  for (const Compute compute : Computes<TypeParam>()) {
    std::vector<TypeParam> alone(m * n);
    for (const int threads : {1, 2, 3, 16}) {
      SetThreads(threads);
      std::vector<TypeParam> c(m * n);
      GemmTransposed<TypeParam>({a.data(), rows, m, m}, {b.data(), rows, n, n}, {c.data(), m, n, n}, compute);
      if (threads == 1) alone = c;
      EXPECT_EQ(std::memcmp(alone.data(), c.data(), c.size() * sizeof(TypeParam)), 0) << threads << " threads";
    }
  }
  SetThreads(before);
}

class GemmRows : public ::testing::TestWithParam<Compute> {};

TEST_P(GemmRows, AreBatchInvariantForAnyThreadCount) {
  // Tests products with an activation. Products of 600 rows use a different code path than products of a few rows.
  constexpr std::int64_t rows = 600, depth = 300, columns = 300;
  const auto a = Values<float>(rows * depth, 1), b = Values<float>(depth * columns, 2),
             bias = Values<float>(columns, 3);
  PackedMatrix<float> packed(depth, columns, GetParam());
  packed.Pack({b.data(), depth, columns, columns}, false);
  std::vector<float> whole(rows * columns), part(rows * columns);
  const auto run = [&](std::int64_t begin, std::int64_t count, std::vector<float>& c) {
    Gemm<float>({a.data() + begin * depth, count, depth, depth}, packed,
                {c.data() + begin * columns, count, columns, columns}, bias.data(), Activation::gelu);
  };
  const int threads = Threads();
  SetThreads(2);
  run(0, rows, whole);
  SetThreads(1);
  for (const std::int64_t step : {1, 2, 3, 5, 16, 17, 63, 100, 513}) {
    for (std::int64_t begin = 0; begin < rows; begin += step) run(begin, std::min(step, rows - begin), part);
    EXPECT_EQ(std::memcmp(whole.data(), part.data(), whole.size() * sizeof(float)), 0) << step << " rows at a time";
  }
  SetThreads(threads);
}

std::string NameOf(const testing::TestParamInfo<Compute>& info) { return Name(info.param); }

std::vector<Compute> ComputesWithIntegers() {
  std::vector<Compute> computes = Computes<float>();
  for (const Compute compute : {Compute::int8, Compute::int4}) computes.push_back(compute);
  return computes;
}

INSTANTIATE_TEST_SUITE_P(Types, GemmRows, ::testing::ValuesIn(ComputesWithIntegers()), NameOf);

TEST(Bfloat16, RoundsToNearestTiesToEven) {
  if (!CpuHasBfloat16()) GTEST_SKIP() << "this processor has no bfloat16";
  std::vector<float> values = Values<float>(1003, 5);
  for (float& value : values) value = std::ldexp(value, static_cast<int>(1e5F * std::abs(value)) % 60 - 30);
  // A number halfway between two bfloat16 numbers rounds to even. A number beyond the largest bfloat16 number rounds to
  // infinity.
  const std::vector<std::pair<std::uint32_t, std::uint16_t>> known = {
      {0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, {0xbf818000, 0xbf82},
      {0x7f7fffff, 0x7f80}, {0x7f800000, 0x7f80}, {0x00000000, 0x0000}, {0x80000000, 0x8000}};
  for (const auto& pair : known) values.push_back(std::bit_cast<float>(pair.first));
  std::vector<std::uint16_t> rounded(values.size() + 1, 0xabcd);
  ToBfloat16(values.data(), static_cast<std::int64_t>(values.size()), rounded.data());
  EXPECT_EQ(rounded.back(), 0xabcd);
  for (std::size_t i = 0; i < 1003; ++i) {
    const double kept = std::bit_cast<float>(static_cast<std::uint32_t>(rounded[i]) << 16);
    EXPECT_LE(std::abs(kept - values[i]), std::abs(values[i]) / 256) << values[i];
  }
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_EQ(rounded[1003 + i], known[i].second) << i;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ToBfloat16(&nan, 1, rounded.data());
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(rounded[0]) << 16)));
}

}  // namespace
}  // namespace headlight::kernels::gemm_test
