#include "headlight/base/hash.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace headlight::hash_test {
namespace {

std::string Bytes() {
  std::string bytes;
  for (int i = 0; i < 101; ++i) bytes.push_back(static_cast<char>(i * 7 + 3));
  return bytes;
}

// The expected values are the results of LLVM 14's implementation for the first `size` test bytes.
TEST(Hash64, KnownAnswers) {
  constexpr std::pair<std::size_t, std::uint64_t> kAnswers[] = {
      {0, 0xef46db3751d8e999},  {1, 0x1f25c8d0bc1f4bb6},  {3, 0x31d2363f52e564c9},  {4, 0x9bb64b7d66ee9fda},
      {7, 0x9a7b149959ce60d8},  {8, 0xdab99d95c6f90092},  {31, 0xa2aa5f33cc4a6119}, {32, 0x23c3c17ef790fd97},
      {33, 0x50a7cfc7ba588784}, {63, 0x5e3e54b431c7493c}, {64, 0x0eb64b3ef6eeb01f}, {100, 0xa61f8d4c170fe531},
      {101, 0xbad4d3bf033bda4c}};
  for (const auto& [size, value] : kAnswers) EXPECT_EQ(HashOf(Bytes().substr(0, size)), value) << size;
  EXPECT_EQ(HashOf("abc"), 0x44bc2cf5ad770999u);
}

TEST(Hash64, IsIndependentOfTheDivisionIntoUpdates) {
  const std::string bytes = Bytes();
  for (std::size_t first = 0; first <= bytes.size(); ++first)
    for (std::size_t second = first; second <= bytes.size(); second += 13) {
      Hash64 hash;
      hash.Update(std::string_view(bytes).substr(0, first));
      hash.Update(std::string_view(bytes).substr(first, second - first));
      hash.Update(std::string_view(bytes).substr(second));
      ASSERT_EQ(hash.value(), HashOf(bytes)) << first << " " << second;
    }
}

TEST(Hash64, DependsOnEveryBitAndTheSeed) {
  const std::string bytes = Bytes();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    ASSERT_NE(HashOf(flipped), HashOf(bytes)) << bit;
  }
  EXPECT_NE(Hash64(1).value(), Hash64(0).value());
}

}  // namespace
}  // namespace headlight::hash_test
