#include "headlight/kernels/rms_norm.h"

#include <limits>

#include "headlight/base/parallel.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::rms_norm_test {
namespace {

constexpr double epsilon = 1e-6;

// The data of a case. Each instance has the same values.
template <typename T>
struct Case {
  explicit Case(RowCase case_shape)
      : shape(case_shape),
        gain(TestVector<T>(shape.columns, 10)),
        inverse_rms(static_cast<std::size_t>(shape.rows)),
        d_gain(static_cast<std::size_t>(shape.columns), T{5}) {}
  void Forward() { RmsNormRows<T>(x.view(), gain.data(), epsilon, y.view(), inverse_rms.data()); }
  void Backward() {
    RmsNormRowsGradient<T>(x.view(), gain.data(), inverse_rms.data(), d_y.view(), d_x.view(), d_gain.data());
  }

  RowCase shape;
  TestMatrix<T> x{shape, 1}, d_y{shape, 3}, y{shape, 0}, d_x{shape, 0};
  std::vector<T> gain, inverse_rms, d_gain;
};

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    Case<T> c(shape);
    c.y.Unwritten();
    c.Forward();
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      double squares = 0;
      for (std::int64_t i = 0; i < shape.columns; ++i) squares += std::pow(static_cast<double>(c.x.at(row, i)), 2);
      const double rms = std::sqrt(squares / static_cast<double>(shape.columns) + epsilon);
      for (std::int64_t i = 0; i < shape.columns; ++i)
        ASSERT_NEAR(c.y.at(row, i), c.x.at(row, i) / rms * c.gain[static_cast<std::size_t>(i)], 5 * Tolerance<T>());
    }
  });
}
TEST(RmsNormRows, ValuesInFloat) { CheckValues<float>(); }
TEST(RmsNormRows, ValuesInDouble) { CheckValues<double>(); }

TEST(RmsNormRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    for (const RowCase shape : {RowCase{2, 4}, {3, 21, 2, 1}}) {
      Case<double> c(shape);
      const auto forward = [&] {
        c.Forward();
        return WeightedSum(c.d_y, c.y);
      };
      forward();
      c.Backward();
      for (std::int64_t row = 0; row < shape.rows; ++row)
        for (std::int64_t i = 0; i < shape.columns; ++i)
          ASSERT_NEAR(c.d_x.at(row, i), Derivative(c.x.at(row, i), forward), 1e-6) << row << ", " << i;
      for (std::size_t i = 0; i < c.gain.size(); ++i)  // gradients are added to the previous value
        ASSERT_NEAR(c.d_gain[i] - 5, Derivative(c.gain[i], forward), 1e-6) << i;
    }
  });
}

TEST(RmsNormRows, SameBitsForAnyThreadCountAndInPlace) {
  const RowCase shape{700, 96};
  Case<float> one(shape), three(shape);
  const int threads = Threads();
  SetThreads(1);
  one.Forward();
  one.Backward();
  SetThreads(3);
  three.Forward();
  // Checks that d_x may overwrite d_y.
  RmsNormRowsGradient<float>(three.x.view(), three.gain.data(), three.inverse_rms.data(), three.d_y.view(),
                             three.d_y.view(), three.d_gain.data());
  SetThreads(threads);
  EXPECT_EQ(one.d_gain, three.d_gain);
  for (std::int64_t row = 0; row < shape.rows; ++row)
    for (std::int64_t i = 0; i < shape.columns; ++i) ASSERT_EQ(one.d_x.at(row, i), three.d_y.at(row, i));
}

TEST(RmsNormRows, ZeroAndNonFiniteRows) {
  ForEveryTarget([] {
    const RowCase shape{3, 19};
    Case<float> c(shape);
    for (std::int64_t i = 0; i < shape.columns; ++i) c.x.at(0, i) = 0;
    c.x.at(1, 18) = std::numeric_limits<float>::quiet_NaN();
    c.x.at(2, 0) = std::numeric_limits<float>::infinity();
    c.Forward();
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      EXPECT_EQ(c.y.at(0, i), 0);
      EXPECT_TRUE(std::isnan(c.y.at(1, i)));
      EXPECT_TRUE(std::isnan(c.y.at(2, i)));
    }
  });
}

}  // namespace
}  // namespace headlight::kernels::rms_norm_test
