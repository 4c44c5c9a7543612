#include "headlight/kernels/cross_entropy.h"

#include <gmock/gmock.h>

#include <limits>

#include "headlight/base/error.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::cross_entropy_test {
namespace {

std::vector<std::int32_t> Labels(RowCase shape) {
  std::vector<std::int32_t> labels;
  for (std::int64_t row = 0; row < shape.rows; ++row)
    labels.push_back(row % 5 == 3 ? -100 : static_cast<std::int32_t>(row * 7 % shape.columns));
  return labels;
}

template <typename T>
double Expected(const TestMatrix<T>& logits, std::int64_t row, std::int32_t label, double smoothing) {
  const std::int64_t vocab = logits.view().columns;
  double sum = 0, loss = 0;
  for (std::int64_t i = 0; i < vocab; ++i) sum += std::exp(double{logits.at(row, i)});
  for (std::int64_t i = 0; i < vocab; ++i) {
    const double target = (i == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(vocab);
    loss -= target * (logits.at(row, i) - std::log(sum));
  }
  return loss;
}

template <typename T>
void CheckValues() {
  ForEveryCase([](RowCase shape) {
    const TestMatrix<T> logits(shape, 1, 3);
    const std::vector<std::int32_t> labels = Labels(shape);
    std::vector<double> losses(labels.size()), same(labels.size());
    for (const double smoothing : {0.0, 0.1}) {
      CrossEntropyRows<T>(logits.view(), labels, smoothing, losses);
      TestMatrix<T> gradient = logits;
      CrossEntropyRowsGradient<T>(gradient.view(), labels, smoothing, 0.5, same);
      EXPECT_EQ(losses, same);
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int32_t label = labels[static_cast<std::size_t>(row)];
        const double expected = label < 0 ? 0 : Expected(logits, row, label, smoothing);
        ASSERT_NEAR(losses[static_cast<std::size_t>(row)], expected, 2 * Tolerance<T>()) << row;
        double sum = 0;
        for (std::int64_t i = 0; i < shape.columns; ++i) sum += gradient.at(row, i);
        ASSERT_NEAR(sum, 0, 2 * Tolerance<T>()) << row;
        if (label < 0) {
          ASSERT_EQ(gradient.at(row, 0), 0);
        }
      }
    }
  });
}
TEST(CrossEntropyRows, ValuesInFloat) { CheckValues<float>(); }
TEST(CrossEntropyRows, ValuesInDouble) { CheckValues<double>(); }

TEST(ConsistentCrossEntropyRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    const RowCase shape{5, 23, 1, 1};
    TestMatrix<double> x(shape, 1, 2), y(shape, 2, 2);
    const std::vector<std::int32_t> labels = Labels(shape);
    std::vector<double> losses(5);
    const auto forward = [&] {
      TestMatrix<double> copy_x = x, copy_y = y;
      ConsistentCrossEntropyRowsGradient<double>(copy_x.view(), copy_y.view(), labels, 0.1, 5, 0.25, losses);
      double sum = 0;
      for (const double loss : losses) sum += 0.25 * loss;
      return sum;
    };
    TestMatrix<double> gradient_x = x, gradient_y = y;
    TestMatrix<float> narrow_x(shape, 1, 2), narrow_y(shape, 2, 2);
    ConsistentCrossEntropyRowsGradient<double>(gradient_x.view(), gradient_y.view(), labels, 0.1, 5, 0.25, losses);
    ConsistentCrossEntropyRowsGradient<float>(narrow_x.view(), narrow_y.view(), labels, 0.1, 5, 0.25, losses);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t i = 0; i < shape.columns; ++i) {
        ASSERT_NEAR(gradient_x.at(row, i), Derivative(x.at(row, i), forward), 1e-8) << row << ", " << i;
        ASSERT_NEAR(gradient_y.at(row, i), Derivative(y.at(row, i), forward), 1e-8) << row << ", " << i;
        ASSERT_NEAR(narrow_x.at(row, i), gradient_x.at(row, i), 2e-6) << row << ", " << i;
        ASSERT_NEAR(narrow_y.at(row, i), gradient_y.at(row, i), 2e-6) << row << ", " << i;
      }
    }
  });
}

TEST(CrossEntropyRows, GradientsMatchFiniteDifferences) {
  ForEveryTarget([] {
    const RowCase shape{5, 23, 1, 1};
    TestMatrix<double> logits(shape, 1, 2);
    const std::vector<std::int32_t> labels = Labels(shape);
    std::vector<double> losses(5);
    const auto forward = [&] {
      CrossEntropyRows<double>(logits.view(), labels, 0.1, losses);
      double sum = 0;
      for (const double loss : losses) sum += 0.25 * loss;
      return sum;
    };
    TestMatrix<double> gradient = logits;
    TestMatrix<float> narrow(shape, 1, 2);
    CrossEntropyRowsGradient<double>(gradient.view(), labels, 0.1, 0.25, losses);
    CrossEntropyRowsGradient<float>(narrow.view(), labels, 0.1, 0.25, losses);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t i = 0; i < shape.columns; ++i) {
        ASSERT_NEAR(gradient.at(row, i), Derivative(logits.at(row, i), forward), 1e-8) << row << ", " << i;
        ASSERT_NEAR(narrow.at(row, i), gradient.at(row, i), 1e-6) << row << ", " << i;
      }
    }
  });
}

TEST(CrossEntropyRows, LargeNonFiniteAndMaskedLogits) {
  const float infinity = std::numeric_limits<float>::infinity();
  ForEveryTarget([&] {
    TestMatrix<float> logits({4, 18}, 0, 0);
    logits.at(0, 2) = 1e30F;
    logits.at(1, 17) = std::numeric_limits<float>::quiet_NaN();
    logits.at(2, 5) = -infinity;
    logits.at(3, 5) = infinity;
    const std::vector<std::int32_t> labels = {2, 0, 1, 0};
    std::vector<double> losses(4);
    CrossEntropyRows<float>(logits.view(), labels, 0, losses);
    EXPECT_EQ(losses[0], 0);
    EXPECT_TRUE(std::isnan(losses[1]));
    EXPECT_NEAR(losses[2], std::log(17.0), 1e-6);  // without smoothing, a masked class adds nothing
    EXPECT_TRUE(std::isnan(losses[3]));
    CrossEntropyRowsGradient<float>(logits.view(), labels, 0.1, 1, losses);
    EXPECT_EQ(losses[2], infinity);
    EXPECT_TRUE(std::isnan(logits.at(1, 0)));
    EXPECT_NEAR(logits.at(2, 5), -0.1 / 18, 1e-7);
  });
}

TEST(CrossEntropyRows, NamesTheRowOfALabelOutOfRange) {
  TestMatrix<float> logits({3, 4}, 1);
  const std::vector<std::int32_t> labels = {3, 4, 0};
  std::vector<double> losses(3);
  try {
    CrossEntropyRows<float>(logits.view(), labels, 0, losses);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("label of row 1 is 4"));
  }
}

}  // namespace
}  // namespace headlight::kernels::cross_entropy_test
