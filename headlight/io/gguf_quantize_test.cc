// Tests quantization: compares the simple types with the package gguf, and bounds the errors of the other types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "headlight/base/gguf.h"
#include "headlight/base/test_support.h"
#include "headlight/kernels/block_encode.h"
#include "headlight/kernels/blocks.h"
#include "headlight/kernels/half.h"
#include "headlight/kernels/quantize.h"

namespace headlight::gguf_quantize_test {
namespace {

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/headlight/io/testdata/";

std::vector<std::byte> Quantized(GgufType type, std::span<const float> numbers,
                                 std::span<const float> importance = {}) {
  const GgufTypeInfo& info = InfoOf(type);
  std::vector<std::byte> bytes(numbers.size() / static_cast<std::size_t>(info.run) *
                               static_cast<std::size_t>(info.size));
  EXPECT_TRUE(kernels::Quantize(type, numbers, importance, bytes.data())) << info.name;
  return bytes;
}

// Returns the weighted squared error of quantization, relative to the weighted sum of squares.
double Loss(GgufType type, std::span<const float> numbers, std::span<const float> importance, bool weighted) {
  const std::vector<std::byte> bytes = Quantized(type, numbers, weighted ? importance : std::span<const float>());
  std::vector<float> back(numbers.size());
  kernels::Dequantize(type, bytes.data(), std::ssize(numbers), back.data());
  double lost = 0, all = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    lost += double{importance[i]} * std::pow(double{numbers[i]} - double{back[i]}, 2);
    all += double{importance[i]} * std::pow(double{numbers[i]}, 2);
  }
  return lost / all;
}

std::vector<float> Normal(std::size_t count, std::uint32_t seed) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < count; ++i) {  // approximately normal: the sum of 12 uniform values
    float sum = -6;
    for (int j = 0; j < 12; ++j) {
      seed = seed * 1664525U + 1013904223U;
      sum += static_cast<float>(seed >> 8) * 0x1p-24F;
    }
    numbers.push_back(sum);
  }
  return numbers;
}

TEST(Quantize, HasTheBytesOfTheOriginal) {
  const Gguf file(kFolder + "quantized.gguf");
  std::vector<float> numbers;
  int compared = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    if (tensor.name == "values") {
      numbers.resize(tensor.bytes.size() / sizeof(float));
      kernels::Dequantize(tensor.type, tensor.bytes.data(), std::ssize(numbers), numbers.data());
      continue;
    }
    EXPECT_TRUE(std::ranges::equal(Quantized(tensor.type, numbers), tensor.bytes)) << tensor.name;
    ++compared;
  }
  EXPECT_EQ(compared, 7);
}

// Checks that unpacking and repacking a block reproduces its bytes.
TEST(BlockEncode, ReversesSplitting) {
  const Gguf file(HEADLIGHT_SOURCE_DIR "/headlight/base/testdata/blocks.gguf");
  int compared = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    if (!kernels::IsBlockType(tensor.type)) continue;
    std::vector<std::byte> again(static_cast<std::size_t>(InfoOf(tensor.type).size));
    for (std::size_t at = 0; at < tensor.bytes.size(); at += again.size()) {
      kernels::JoinBlock(tensor.type, kernels::SplitBlock(tensor.type, tensor.bytes.data() + at), again.data());
      EXPECT_TRUE(std::ranges::equal(again, tensor.bytes.subspan(at, again.size()))) << tensor.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 12);
}

TEST(Half, RoundsToNearest) {
  const auto half = [](float number) { return kernels::HalfOfFloat(number); };
  EXPECT_EQ(half(1), 0x3c00);
  EXPECT_EQ(half(-2), 0xc000);
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(65519), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00);
  EXPECT_EQ(half(0x1p-24F), 1);
  EXPECT_EQ(half(0x1p-25F), 0);  // a tie is rounded to even
  EXPECT_EQ(half(0x1.8p-24F), 2);
  EXPECT_EQ(half(0x1.001p0F), 0x3c00);
  EXPECT_EQ(half(0x1.003p0F), 0x3c01);
  EXPECT_EQ(half(-0.0F), 0x8000);
  EXPECT_EQ(half(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_NE(half(std::numeric_limits<float>::quiet_NaN()) & 0x3ff, 0);
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float number = kernels::FloatOfHalf(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(half(number), bits);
  }
}

struct Limit {
  GgufType type;
  double loss;  // upper bound for normally distributed values, slightly above the actual loss
};

TEST(Quantize, LosesLittle) {
  const std::vector<float> numbers = Normal(4096, 1), equal(4096, 1);
  constexpr Limit limits[] = {{GgufType::q2_k, 0.069},   {GgufType::q3_k, 0.0207},  {GgufType::q4_k, 0.0049},
                              {GgufType::q5_k, 0.0012},  {GgufType::q6_k, 0.00028}, {GgufType::iq4_nl, 0.0054},
                              {GgufType::iq4_xs, 0.0055}};
  for (const auto& [type, most] : limits) {
    const double loss = Loss(type, numbers, equal, false);
    EXPECT_LT(loss, most) << InfoOf(type).name;
    EXPECT_GT(loss, most / 1.1) << InfoOf(type).name;
  }
}

TEST(Quantize, FavorsImportantNumbers) {
  const std::vector<float> numbers = Normal(4096, 2);
  std::vector<float> importance = Normal(4096, 3);
  for (float& weight : importance) weight = std::exp(2 * weight);
  for (const GgufTypeInfo& info : GgufTypes()) {
    if (!kernels::IsBlockType(info.type) || info.type == GgufType::q8_0) continue;
    EXPECT_LT(Loss(info.type, numbers, importance, true), 0.9 * Loss(info.type, numbers, importance, false))
        << info.name;
  }
}

TEST(Quantize, DefinesZerosTinyAndLargeNumbers) {
  std::vector<float> numbers(256, 0.0F), back(256);
  const std::vector<float> importance(256, 0.0F);  // all columns have the weight 0
  for (const float largest : {0.0F, 1e-40F, 1e-20F, 3e-6F, 1.0F, 40000.0F}) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 3 == 0 ? -largest : i % 3 == 1 ? largest : 0;
    for (const GgufTypeInfo& info : GgufTypes())
      for (const bool weighted : {false, true}) {
        const std::vector<std::byte> bytes =
            Quantized(info.type, numbers, weighted ? std::span(importance) : std::span<const float>());
        kernels::Dequantize(info.type, bytes.data(), 256, back.data());
        for (std::size_t i = 0; i < numbers.size(); ++i)
          ASSERT_NEAR(back[i], numbers[i], largest * 0.2F + 4e-6F) << info.name << " " << largest;
      }
  }
}

TEST(Quantize, RefusesWhatATypeCannotHold) {
  std::vector<std::byte> bytes(1024);
  for (const GgufTypeInfo& info : GgufTypes()) {
    for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> numbers(256, 1);
      numbers[200] = bad;
      EXPECT_FALSE(kernels::Quantize(info.type, numbers, {}, bytes.data())) << info.name;
    }
    const std::vector<float> large(256, 1e38F);
    const bool holds = info.type == GgufType::f32 || info.type == GgufType::bf16;
    EXPECT_EQ(kernels::Quantize(info.type, large, {}, bytes.data()), holds) << info.name;
  }
}

}  // namespace
}  // namespace headlight::gguf_quantize_test
