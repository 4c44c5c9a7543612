#include "headlight/kernels/layer_norm.h"

#include <limits>

#include "headlight/base/parallel.h"
#include "headlight/kernels/dropout.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::layer_norm_test {
namespace {

constexpr double epsilon = 1e-5;

// The data of a case. Each instance has the same values.
template <typename T>
struct Case {
  explicit Case(RowCase case_shape)
      : shape(case_shape),
        gain(TestVector<T>(shape.columns, 10)),
        bias(TestVector<T>(shape.columns, 11)),
        mean(static_cast<std::size_t>(shape.rows)),
        inverse_deviation(static_cast<std::size_t>(shape.rows)),
        d_gain(static_cast<std::size_t>(shape.columns), T{5}),
        d_bias(static_cast<std::size_t>(shape.columns), T{7}) {}
  RowMoments<T> moments() { return {mean.data(), inverse_deviation.data()}; }
  void Forward() {
    ResidualLayerNormRows<T>(x.view(), sublayer.view(), dropout, gain.data(), bias.data(), epsilon, sum.view(),
                             y.view(), moments());
  }
  void Backward() {
    ResidualLayerNormRowsGradient<T>(sum.view(), gain.data(), moments(), dropout, d_y.view(), d_x.view(),
                                     d_sublayer.view(), d_gain.data(), d_bias.data());
  }

  RowCase shape;
  Dropout dropout{0.3, 17};
  TestMatrix<T> x{shape, 1}, sublayer{shape, 2}, d_y{shape, 3};
  TestMatrix<T> sum{shape, 0}, y{shape, 0}, d_x{shape, 0}, d_sublayer{shape, 0};
  std::vector<T> gain, bias, mean, inverse_deviation, d_gain, d_bias;
};

// Computes layer normalization with plain loops in double precision.
TestMatrix<double> Expected(TestMatrix<double> x, RowCase shape, const auto& gain, const auto& bias) {
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const double n = static_cast<double>(shape.columns);
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < shape.columns; ++i) mean += x.at(row, i) / n;
    for (std::int64_t i = 0; i < shape.columns; ++i) variance += std::pow(x.at(row, i) - mean, 2) / n;
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      const auto at = static_cast<std::size_t>(i);
      x.at(row, i) = (x.at(row, i) - mean) / std::sqrt(variance + epsilon) * gain[at] + bias[at];
    }
  }
  return x;
}

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    Case<T> c(shape);
    TestMatrix<double> wide(shape, 0);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t i = 0; i < shape.columns; ++i) wide.at(row, i) = c.x.at(row, i);
    }
    TestMatrix<double> expected = Expected(wide, shape, c.gain, c.bias);
    c.y.Unwritten();
    LayerNormRows<T>(c.x.view(), c.gain.data(), c.bias.data(), epsilon, c.y.view(), c.moments());
    const double tolerance =
        shape.columns < 4 ? 1e3 * Tolerance<T>() : 5 * Tolerance<T>();  // short rows are ill-conditioned
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t i = 0; i < shape.columns; ++i)
        ASSERT_NEAR(c.y.at(row, i), expected.at(row, i), tolerance) << row << ", " << i;
    }

    const TestMatrix<T> plain = c.y;
    LayerNormRows<T>(c.x.view(), c.gain.data(), c.bias.data(), epsilon, c.y.view(), {});
    for (std::int64_t i = 0; i < shape.columns; ++i) ASSERT_EQ(c.y.at(0, i), plain.at(0, i)) << "without moments";

    // The fused kernel must equal its composition, bit for bit.
    TestMatrix<T> dropped(shape, 0), twin(shape, 0);
    ResidualRows<T>(c.x.view(), c.sublayer.view(), c.dropout, dropped.view());
    LayerNormRows<T>(dropped.view(), c.gain.data(), c.bias.data(), epsilon, twin.view(), {});
    c.sum.Unwritten();
    c.y.Unwritten();
    c.Forward();
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t i = 0; i < shape.columns; ++i) {
        ASSERT_EQ(c.sum.at(row, i), dropped.at(row, i)) << row << ", " << i;
        ASSERT_EQ(c.y.at(row, i), twin.at(row, i)) << row << ", " << i;
      }
    }
  });
}
TEST(LayerNormRows, ValuesInFloat) { CheckValues<float>(); }
TEST(LayerNormRows, ValuesInDouble) { CheckValues<double>(); }

TEST(LayerNormRows, WorkedExample) {
  const std::vector<float> x = {-2.3F, 1.9F, 2.7F, -3.4F}, gain(4, 1), bias(4, 0);
  std::vector<float> y(4);
  float mean = 0, inverse = 0;
  LayerNormRows<float>({x.data(), 1, 4, 4}, gain.data(), bias.data(), epsilon, {y.data(), 1, 4, 4}, {&mean, &inverse});
  EXPECT_NEAR(mean, -0.275, 1e-6);
  EXPECT_NEAR(1 / (inverse * inverse), 6.86, 0.01);
  const std::vector<float> expected = {-0.77F, 0.83F, 1.13F, -1.19F};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 0.006);
}

TEST(LayerNormRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    for (const RowCase shape : {RowCase{2, 4}, {3, 21, 2, 1}}) {
      Case<double> c(shape);
      const auto forward = [&] {
        c.Forward();
        return WeightedSum(c.d_y, c.y);
      };
      forward();
      c.Backward();
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t i = 0; i < shape.columns; ++i) {
          ASSERT_NEAR(c.d_x.at(row, i), Derivative(c.x.at(row, i), forward), 1e-6) << row << ", " << i;
          ASSERT_NEAR(c.d_sublayer.at(row, i), Derivative(c.sublayer.at(row, i), forward), 1e-6) << row << ", " << i;
        }
      }
      for (std::size_t i = 0; i < c.gain.size(); ++i) {  // gradients are added to the previous value
        ASSERT_NEAR(c.d_gain[i] - 5, Derivative(c.gain[i], forward), 1e-6) << i;
        ASSERT_NEAR(c.d_bias[i] - 7, Derivative(c.bias[i], forward), 1e-6) << i;
      }
    }
  });
}

TEST(LayerNormRows, GradientInFloatMatchesDouble) {
  ForEveryCase([](RowCase shape) {
    if (shape.columns < 4) return;  // the gradient of a short row may be mostly rounding error
    Case<double> wide(shape);
    Case<float> narrow(shape);
    wide.Forward();
    narrow.Forward();
    wide.Backward();
    narrow.Backward();
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t i = 0; i < shape.columns; ++i) {
        ASSERT_NEAR(narrow.d_x.at(row, i), wide.d_x.at(row, i), 5e-5) << row << ", " << i;
        ASSERT_NEAR(narrow.d_sublayer.at(row, i), wide.d_sublayer.at(row, i), 5e-5) << row << ", " << i;
      }
    }
    for (std::size_t i = 0; i < wide.gain.size(); ++i) {
      ASSERT_NEAR(narrow.d_gain[i], wide.d_gain[i], 2e-4) << i;
      ASSERT_NEAR(narrow.d_bias[i], wide.d_bias[i], 2e-4) << i;
    }
  });
}

TEST(LayerNormRows, SameBitsForAnyThreadCountAndInPlace) {
  const RowCase shape{700, 96};
  Case<float> one(shape), three(shape);
  const int threads = Threads();
  SetThreads(1);
  one.Forward();
  one.Backward();
  SetThreads(3);
  three.Forward();
  // Checks that d_x may overwrite d_y.
  ResidualLayerNormRowsGradient<float>(three.sum.view(), three.gain.data(), three.moments(), three.dropout,
                                       three.d_y.view(), three.d_y.view(), three.d_sublayer.view(), three.d_gain.data(),
                                       three.d_bias.data());
  SetThreads(threads);
  EXPECT_EQ(one.d_gain, three.d_gain);
  EXPECT_EQ(one.d_bias, three.d_bias);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      ASSERT_EQ(one.d_x.at(row, i), three.d_y.at(row, i));
      ASSERT_EQ(one.d_sublayer.at(row, i), three.d_sublayer.at(row, i));
    }
  }
}

TEST(LayerNormRows, ConstantLargeAndNonFiniteRows) {
  ForEveryTarget([] {
    const RowCase shape{4, 19};
    Case<float> c(shape);
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      c.x.at(0, i) = 1234.5F;                       // variance 0, so only the bias remains
      c.x.at(1, i) = 1e6F + static_cast<float>(i);  // the mean is much larger than the deviation
    }
    c.x.at(2, 18) = std::numeric_limits<float>::quiet_NaN();
    c.x.at(3, 0) = std::numeric_limits<float>::infinity();
    LayerNormRows<float>(c.x.view(), c.gain.data(), c.bias.data(), epsilon, c.y.view(), {});
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(c.y.at(0, i), c.bias[at]);
      EXPECT_NEAR(c.y.at(1, i), (static_cast<float>(i) - 9) / std::sqrt(30.0F) * c.gain[at] + c.bias[at], 0.05);
      EXPECT_TRUE(std::isnan(c.y.at(2, i)));
      EXPECT_TRUE(std::isnan(c.y.at(3, i)));
    }
  });
}

}  // namespace
}  // namespace headlight::kernels::layer_norm_test
