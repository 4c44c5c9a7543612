#include "headlight/kernels/block_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/kernels/panels.h"

namespace headlight::kernels::block_product_test {
namespace {

std::vector<GgufType> BlockTypes() {
  std::vector<GgufType> types;
  for (const GgufTypeInfo& info : GgufTypes())
    if (IsBlockType(info.type)) types.push_back(info.type);
  return types;
}

// Returns the byte offsets of the half-precision values in a block.
std::vector<std::size_t> HalvesOf(GgufType type) {
  switch (type) {
    case GgufType::q2_k:
      return {80, 82};
    case GgufType::q3_k:
      return {108};
    case GgufType::q6_k:
      return {208};
    default:
      return LayoutOf(type).mins ? std::vector<std::size_t>{0, 2} : std::vector<std::size_t>{0};
  }
}

struct Columns {
  // Fills the columns with random bytes and random scales from 2^-4 to 2^-3.
  Columns(GgufType its_type, std::int64_t its_depth, std::int64_t its_count, std::uint64_t seed)
      : type(its_type), depth(its_depth), count(its_count) {
    Random random(seed);
    const auto size = static_cast<std::size_t>(InfoOf(type).size);
    bytes.resize(static_cast<std::size_t>(count * depth / InfoOf(type).run) * size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.Below(256));
    for (std::size_t block = 0; block < bytes.size(); block += size)
      for (const std::size_t half : HalvesOf(type)) bytes[block + half + 1] = std::byte{0x2c};
  }

  const std::byte* column(std::int64_t index) const { return bytes.data() + index * (std::ssize(bytes) / count); }
  std::vector<std::byte> Panel() const {
    std::vector<std::byte> panel(static_cast<std::size_t>(BlockPanelBytes(type, depth)));
    std::vector<const std::byte*> columns;
    for (std::int64_t index = 0; index < count; ++index) columns.push_back(column(index));
    PackBlockPanel(type, depth, columns, panel.data());
    return panel;
  }

  GgufType type;
  std::int64_t depth, count;
  std::vector<std::byte> bytes;
};

struct Rows {
  Rows(std::int64_t count, std::int64_t its_depth, std::uint64_t seed) : depth(its_depth) {
    Random random(seed);
    for (std::int64_t i = 0; i < count * depth; ++i) numbers.push_back(static_cast<float>(random.Normal()));
    Quantize();
  }
  void Quantize() {
    values.resize(numbers.size());
    sums.resize(numbers.size() / kSumRun);
    scales.resize(numbers.size() / kBlockRun);
    QuantizeBlockRows({numbers.data(), std::ssize(numbers) / depth, depth, depth}, values.data(), sums.data(),
                      scales.data());
  }
  BlockRows Of(std::int64_t first, std::int64_t count) const {
    return {values.data() + first * depth, sums.data() + first * depth / kSumRun,
            scales.data() + first * depth / kBlockRun, count, depth};
  }

  std::int64_t depth;
  std::vector<float> numbers;
  std::vector<std::int8_t> values;
  std::vector<std::int32_t> sums;
  std::vector<float> scales;
};

std::vector<float> Product(const BlockPath& path, const Columns& right, const BlockRows& left,
                           const float* bias = nullptr, bool relu = false) {
  std::vector<float> c(static_cast<std::size_t>(left.rows * right.count));
  const std::vector<std::byte> panel = right.Panel();
  path.product(right.type)(left, panel.data(), {c.data(), left.rows, right.count, right.count}, bias, relu);
  return c;
}

TEST(BlockProduct, MultipliesTheExactWeights) {
  for (const GgufType type : BlockTypes()) {
    const Columns right(type, 512, 9, 1);
    const Rows left(3, 512, 2);
    const std::vector<float> c = Product(BlockPaths().back(), right, left.Of(0, 3));
    std::vector<float> weights(512);
    for (std::int64_t column = 0; column < right.count; ++column) {
      Dequantize(type, right.column(column), 512, weights.data());
      for (std::int64_t row = 0; row < 3; ++row) {
        double sum = 0, size = 0;
        for (std::int64_t k = 0; k < 512; ++k) {
          const auto at = static_cast<std::size_t>(row * 512 + k);
          const double term = double{weights[static_cast<std::size_t>(k)]} * left.values[at] *
                              double{left.scales[at / static_cast<std::size_t>(kBlockRun)]};
          sum += term;
          size += std::abs(term);
        }
        EXPECT_NEAR(c[static_cast<std::size_t>(row * right.count + column)], sum, 1e-6 * size) << InfoOf(type).name;
      }
    }
  }
}

TEST(BlockProduct, HasTheSameBitsOnEveryPathForAnyRowsAndColumns) {
  for (const GgufType type : BlockTypes())
    for (const std::int64_t count : {64, 41, 1}) {
      const Columns right(type, 768, count, 3);
      const Rows left(13, 768, 4);
      std::vector<float> bias(64, 0.25F);
      const std::vector<float> expected = Product(BlockPaths().back(), right, left.Of(0, 13), bias.data(), true);
      for (const BlockPath& path : BlockPaths())
        for (std::int64_t first = 0; first < 13; ++first)
          for (const std::int64_t rows : {1, 2, 3, 5, 6, 13}) {
            if (first + rows > 13) continue;
            const std::vector<float> c = Product(path, right, left.Of(first, rows), bias.data(), true);
            ASSERT_TRUE(
                std::ranges::equal(c, std::span(expected).subspan(static_cast<std::size_t>(first * count), c.size())))
                << path.name << " " << InfoOf(type).name << ": " << rows << " rows, " << count << " columns";
          }
    }
}

TEST(BlockProduct, HoldsTheLargestSums) {
  for (const GgufType type : {GgufType::q8_0, GgufType::q6_k, GgufType::q5_k, GgufType::q4_k, GgufType::iq4_nl}) {
    Columns right(type, 256, 1, 5);
    // Tests the largest codes of both signs.
    for (const int byte : {0xff, 0x00, 0x80, 0x7f}) {
      std::ranges::fill(right.bytes, static_cast<std::byte>(byte));
      for (std::size_t block = 0; block < right.bytes.size(); block += static_cast<std::size_t>(InfoOf(type).size))
        for (const std::size_t half : HalvesOf(type)) {
          right.bytes[block + half] = std::byte{0};
          right.bytes[block + half + 1] = std::byte{0x3c};  // the half-precision number is 1
        }
      for (const float sign : {1.0F, -1.0F}) {
        Rows left(1, 256, 6);
        std::ranges::fill(left.numbers, sign);
        left.Quantize();
        std::vector<float> weights(256);
        Dequantize(type, right.column(0), 256, weights.data());
        double sum = 0;
        for (const float weight : weights) sum += double{weight} * sign;
        for (const BlockPath& path : BlockPaths())
          EXPECT_NEAR(Product(path, right, left.Of(0, 1))[0], sum, 1e-4 * std::abs(sum) + 1e-6)
              << path.name << " " << InfoOf(type).name << " " << byte;
      }
    }
  }
}

TEST(BlockProduct, ReportsNumbersThatAreNotFinite) {
  const Columns right(GgufType::q4_k, 256, 2, 7);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Rows left(2, 256, 8);
    left.numbers[256 + 3] = bad;
    left.Quantize();
    for (const BlockPath& path : BlockPaths()) {
      const std::vector<float> c = Product(path, right, left.Of(0, 2));
      EXPECT_TRUE(std::isfinite(c[0]) && std::isnan(c[2])) << path.name;
    }
  }
}

}  // namespace
}  // namespace headlight::kernels::block_product_test
