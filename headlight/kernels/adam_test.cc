#include "headlight/kernels/adam.h"

#include <limits>

#include "headlight/base/parallel.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::adam_test {
namespace {

// Compares ten steps with the paper's algorithm, implemented as plain loops.
template <typename T>
void CheckSteps() {
  for (const std::int64_t count :
       {std::int64_t{1}, std::int64_t{7}, std::int64_t{16}, std::int64_t{33}, std::int64_t{2 * 16384 + 5}}) {
    ForEveryTarget([&] {
      std::vector<T> value = TestVector<T>(count, 1), m(value.size()), v(value.size()), average = value;
      std::vector<double> expected(value.begin(), value.end()), first(value.size()), second(value.size());
      std::vector<double> mean = expected;
      AdamStep step{.learning_rate = 0.01, .weight_decay = 0.1, .gradient_scale = 0.5, .average_decay = 0.9};
      for (step.step = 1; step.step <= 10; ++step.step) {
        const std::vector<T> gradient = TestVector<T>(count, static_cast<std::uint64_t>(step.step + 10));
        AdamUpdate<T>(step, value, gradient, m, v, average);
        const double t = static_cast<double>(step.step);
        for (std::size_t i = 0; i < value.size(); ++i) {
          const double g = 0.5 * gradient[i];
          first[i] = 0.9 * first[i] + 0.1 * g;
          second[i] = 0.98 * second[i] + 0.02 * g * g;
          expected[i] -= 0.01 * 0.1 * expected[i];
          expected[i] -= 0.01 * first[i] / (1 - std::pow(0.9, t)) /
                         (std::sqrt(second[i] / (1 - std::pow(0.98, t))) + step.epsilon);
          mean[i] = 0.9 * mean[i] + 0.1 * expected[i];
        }
      }
      for (std::size_t i = 0; i < value.size(); ++i) {
        ASSERT_NEAR(value[i], expected[i], 2 * Tolerance<T>()) << i;
        ASSERT_NEAR(average[i], mean[i], 2 * Tolerance<T>()) << i;
        ASSERT_NEAR(m[i], first[i], Tolerance<T>()) << i;
        ASSERT_NEAR(v[i], second[i], Tolerance<T>()) << i;
      }
    });
  }
}
TEST(AdamUpdate, FloatFollowsThePaper) { CheckSteps<float>(); }
TEST(AdamUpdate, DoubleFollowsThePaper) { CheckSteps<double>(); }

TEST(AdamUpdate, UpdatesTheSameValuesWithoutAnAverage) {
  std::vector<float> one = TestVector<float>(100, 1), two = one, m1(100), v1(100), m2(100), v2(100), average(100);
  const std::vector<float> gradient = TestVector<float>(100, 2);
  AdamUpdate<float>({.learning_rate = 0.1}, one, gradient, m1, v1, {});
  AdamUpdate<float>({.learning_rate = 0.1}, two, gradient, m2, v2, average);
  EXPECT_EQ(one, two);
  EXPECT_EQ(average, two);  // with decay 0, the average equals the value
}

TEST(SumOfSquares, MatchesPlainLoopsForAnyThreadCount) {
  const int threads = Threads();
  for (const std::int64_t count : {0, 1, 5, 64, 16383, 16384, 16385, 100000}) {
    const std::vector<float> narrow = TestVector<float>(count, 1, 1e15);  // squares are close to the largest float
    const std::vector<double> wide(narrow.begin(), narrow.end());
    double expected = 0;
    for (const double value : wide) expected += value * value;
    ForEveryTarget([&] {
      SetThreads(1);
      const double one = SumOfSquares<float>(narrow);
      SetThreads(4);
      EXPECT_EQ(SumOfSquares<float>(narrow), one);
      EXPECT_NEAR(one, expected, 1e-12 * expected) << count;
      EXPECT_NEAR(SumOfSquares<double>(wide), expected, 1e-12 * expected) << count;
    });
  }
  SetThreads(threads);
  EXPECT_TRUE(std::isnan(SumOfSquares<float>(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()})));
}

}  // namespace
}  // namespace headlight::kernels::adam_test
