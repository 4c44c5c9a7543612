#include "headlight/kernels/inverse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/random.h"

namespace headlight::kernels::inverse_test {
namespace {

TEST(InvertPositive, GivesTheIdentityTimesTheMatrix) {
  for (const std::int64_t n : {1, 5, 64, 65, 150}) {
    Random random(static_cast<std::uint64_t>(n), 0);
    const auto size = static_cast<std::size_t>(n);
    std::vector<float> factors(size * size), matrix(size * size);
    for (float& factor : factors) factor = static_cast<float>(random.Uniform() - 0.5);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t k = 0; k < size; ++k) matrix[i * size + j] += factors[i * size + k] * factors[j * size + k];
        if (i == j) matrix[i * size + j] += 1;
      }
    std::vector<float> inverse = matrix;
    InvertPositive({inverse.data(), n, n, n});
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < size; ++k)
          sum += static_cast<double>(matrix[i * size + k]) * static_cast<double>(inverse[k * size + j]);
        EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-4) << n << ": " << i << ", " << j;
      }
  }
}

TEST(InvertPositive, RejectsSingularMatrices) {
  std::vector<float> zero(4, 1);
  EXPECT_THROW(InvertPositive({zero.data(), 2, 2, 2}), Error);
}

}  // namespace
}  // namespace headlight::kernels::inverse_test
