#include "headlight/train/lbfgs.h"

#include <gtest/gtest.h>

namespace headlight::lbfgs_test {
namespace {

// Computes the extended Rosenbrock function, which has one valley for each pair of neighboring variables. Its minimum
// is at 1 in every variable.
double Valley(const std::vector<double>& x, std::vector<double>& gradient) {
  double value = 0;
  std::fill(gradient.begin(), gradient.end(), 0);
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double rise = x[i + 1] - x[i] * x[i], rest = 1 - x[i];
    value += 100 * rise * rise + rest * rest;
    gradient[i] += -400 * rise * x[i] - 2 * rest;
    gradient[i + 1] += 200 * rise;
  }
  return value;
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrock) {
  for (const std::size_t size : {2U, 7U}) {
    std::vector<double> x(size, -0.5);
    EXPECT_TRUE(Minimize(Valley, x, {.tolerance = 1e-9}));
    for (const double number : x) EXPECT_NEAR(number, 1, 1e-8);
  }
}

TEST(Lbfgs, ReportsThatItDidNotConverge) {
  std::vector<double> x(2, -0.5);
  EXPECT_FALSE(Minimize(Valley, x, {.iterations = 3}));
  // This function has no minimum.
  const Objective line = [](const std::vector<double>& at, std::vector<double>& gradient) {
    gradient[0] = -1;
    return -at[0];
  };
  std::vector<double> one = {0};
  EXPECT_FALSE(Minimize(line, one));
  // This search starts at the minimum.
  std::vector<double> there = {1, 1};
  EXPECT_TRUE(Minimize(Valley, there, {.iterations = 0}));
}

}  // namespace
}  // namespace headlight::lbfgs_test
