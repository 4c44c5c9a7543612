#include "headlight/kernels/activation.h"

#include <limits>
#include <numbers>

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::activation_test {
namespace {

constexpr Activation every_activation[] = {Activation::none,      Activation::relu, Activation::gelu,
                                           Activation::gelu_tanh, Activation::silu, Activation::quick_gelu,
                                           Activation::tanh};

double Expected(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::quick_gelu:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return 0;
}

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> x(shape, 1, 3);
    TestMatrix<T> y(shape, 0);
    for (const Activation activation : every_activation) {
      SCOPED_TRACE(static_cast<int>(activation));
      y.Unwritten();
      ActivationRows<T>(activation, x.view(), y.view());
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t i = 0; i < shape.columns; ++i)
          ASSERT_NEAR(y.at(row, i), Expected(activation, x.at(row, i)), 2 * Tolerance<T>()) << x.at(row, i);
      }
    }
  });
}
TEST(ActivationRows, ValuesInFloat) { CheckValues<float>(); }
TEST(ActivationRows, ValuesInDouble) { CheckValues<double>(); }

// Checks a fine grid of inputs. Errors are measured in multiples of float's epsilon.
TEST(ActivationRows, FloatIsAccurateEverywhere) {
  std::vector<float> x, y;
  for (double at = -30; at <= 30; at += 1e-3) x.push_back(static_cast<float>(at));
  y.resize(x.size());
  const auto n = std::ssize(x);
  ForEveryTarget([&] {
    for (const Activation activation : every_activation) {
      ActivationRows<float>(activation, {x.data(), 1, n, n}, {y.data(), 1, n, n});
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double expected = Expected(activation, double{x[i]});
        ASSERT_NEAR(y[i], expected, 4e-7 * std::max(1.0, std::abs(double{x[i]})))
            << static_cast<int>(activation) << " at " << x[i];
      }
    }
  });
}

TEST(ActivationRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    const RowCase shape{4, 29, 1, 1};
    TestMatrix<double> x(shape, 1, 2), y(shape, 0), d_x(shape, 0), d_y(shape, 2);
    TestMatrix<float> narrow_x(shape, 1, 2), narrow_d_y(shape, 2), narrow_d_x(shape, 0);
    for (const Activation activation : every_activation) {
      SCOPED_TRACE(static_cast<int>(activation));
      const auto forward = [&] {
        ActivationRows<double>(activation, x.view(), y.view());
        return WeightedSum(d_y, y);
      };
      ActivationRowsGradient<double>(activation, x.view(), d_y.view(), d_x.view());
      ActivationRowsGradient<float>(activation, narrow_x.view(), narrow_d_y.view(), narrow_d_x.view());
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t i = 0; i < shape.columns; ++i) {
          ASSERT_NEAR(d_x.at(row, i), Derivative(x.at(row, i), forward), 1e-7) << x.at(row, i);
          ASSERT_NEAR(narrow_d_x.at(row, i), d_x.at(row, i), 4e-6) << x.at(row, i);
        }
      }
    }
  });
}

TEST(ActivationRows, FarOutAndNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), far = 3e38F;
  const std::vector<float> x = {far, -far, nan, 0}, ones(4, 1);
  std::vector<float> y(4), slope(4);
  ForEveryTarget([&] {
    for (const Activation activation : every_activation) {
      SCOPED_TRACE(static_cast<int>(activation));
      ActivationRows<float>(activation, {x.data(), 1, 4, 4}, {y.data(), 1, 4, 4});
      ActivationRowsGradient<float>(activation, {x.data(), 1, 4, 4}, {ones.data(), 1, 4, 4}, {slope.data(), 1, 4, 4});
      const bool tanh = activation == Activation::tanh, none = activation == Activation::none;
      EXPECT_EQ(y[0], tanh ? 1 : far);
      EXPECT_EQ(y[1], tanh ? -1 : none ? -far : 0);
      EXPECT_TRUE(std::isnan(y[2]));
      EXPECT_EQ(y[3], 0);
      EXPECT_EQ(slope[0], tanh ? 0 : 1);
      EXPECT_EQ(slope[1], none ? 1 : 0);
    }
  });
}

}  // namespace
}  // namespace headlight::kernels::activation_test
