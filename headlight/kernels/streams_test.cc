#include "headlight/kernels/streams.h"

#include <gtest/gtest.h>

#include <vector>

namespace headlight::kernels::streams_test {
namespace {

TEST(StreamsTest, AddsItsInputs) {
  constexpr std::int64_t count = 16384 + 64;  // a full chunk and a short chunk
  std::vector<float> numbers(4 * count), sums(count);
  for (std::int64_t i = 0; i < 4 * count; ++i)
    numbers[static_cast<std::size_t>(i)] = static_cast<float>(i / count * 100 + i % count % 7);
  const float* const first = numbers.data();
  const std::vector<const float*> inputs = {first, first + count, first + 2 * count, first + 3 * count};
  for (const std::size_t used : {1, 2, 4}) {
    StreamSums({inputs.data(), used}, count, sums.data());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(sums[i], static_cast<float>(used * (used - 1) / 2 * 100 + used * (i % 7))) << used << " " << i;
  }
  StreamSums(inputs, count, nullptr);
}

}  // namespace
}  // namespace headlight::kernels::streams_test
