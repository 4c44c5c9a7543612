#include "headlight/text/metrics/correlation.h"

#include <gtest/gtest.h>

#include <vector>

namespace headlight::correlation_test {
namespace {

// Compares with PyTorch 2.15's torch.corrcoef, which is applied to ranks for Spearman's correlation.
TEST(Correlation, MatchesPyTorch) {
  const std::vector<double> x = {1, 2, 2, 5, -3, 0.5}, y = {0.2, 0.9, 0.4, 0.9, -1, 2};
  EXPECT_NEAR(PearsonCorrelation(x, y), 0.5475793534230844, 1e-12);
  EXPECT_NEAR(SpearmanCorrelation(x, y), 0.3676470588235294, 1e-12);
}

TEST(Correlation, IsWithinBounds) {
  const std::vector<double> x = {0.1, 0.2, 0.30000001, 7}, same = {0.1, 0.1, 0.1, 0.1}, cubes = {1, 8, 27, 640};
  EXPECT_DOUBLE_EQ(PearsonCorrelation(x, x), 1);
  EXPECT_DOUBLE_EQ(PearsonCorrelation(x, std::vector<double>{-0.1, -0.2, -0.30000001, -7}), -1);
  EXPECT_DOUBLE_EQ(SpearmanCorrelation(x, cubes), 1);
  EXPECT_LT(PearsonCorrelation(x, cubes), 1);
  EXPECT_EQ(PearsonCorrelation(x, same), 0);
  EXPECT_EQ(SpearmanCorrelation(same, x), 0);
  EXPECT_EQ(PearsonCorrelation({}, {}), 0);
}

}  // namespace
}  // namespace headlight::correlation_test
