#include "headlight/nn/convolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::convolution_test {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

const ConvolutionShape kShape = {.kernel = {3, 3}, .padding = {1, 1}};

FeatureMaps Maps(std::int64_t channels, DType dtype) {
  FeatureMaps maps{Tensor::Empty({35, channels}, dtype), {{4, 5}, {3, 5}}};
  Dispatch(dtype, [&]<typename T>(T) {
    for (std::int64_t i = 0; i < maps.rows.elements(); ++i)
      maps.rows.data<T>()[i] = static_cast<T>(std::sin(3 * static_cast<double>(i)));
  });
  return maps;
}

// A norm with random parameters, each of which changes the result.
struct Normed {
  explicit Normed(BatchStatistics statistics = BatchStatistics::trained, std::int64_t groups = 1,
                  DType dtype = DType::float64)
      : parameters(dtype),
        layer(Scope(parameters) / "convolution", Scope(parameters) / "norm", 4, 6,
              {.kernel = {3, 3}, .padding = {1, 1}, .groups = groups}, statistics) {
    parameters.Initialize(1);
    for (std::size_t index = 1; index < parameters.all().size(); ++index)
      for (std::int64_t i = 0; i < 6; ++i)
        Dispatch(dtype, [&]<typename T>(T) {
          parameters.all()[index].value.data<T>()[i] = static_cast<T>(1 + 0.1 * static_cast<double>(index * 6 + i % 5));
        });
    parameters.Pack();
  }
  std::vector<double> ValueOf(std::size_t index) const { return parameters.all()[index].value.ToVector<double>(); }

  Parameters parameters;
  NormedConvolution layer;
};

TEST(NormedConvolution, UpdatesRunningAveragesInTraining) {
  const Normed normed;
  const std::vector<double> mean = normed.ValueOf(3), variance = normed.ValueOf(4);
  Context plain, training;
  training.training.emplace();
  const FeatureMaps x = Maps(4, DType::float64);
  const Tensor y = ops::Convolution(x, kShape, plain.UseWeight(normed.parameters.all()[0])).rows;
  const std::vector<double> before = normed.layer(plain, x).rows.ToVector<double>();
  EXPECT_EQ(normed.ValueOf(3), mean);
  normed.layer(training, x);
  for (std::int64_t channel = 0; channel < 6; ++channel) {
    double of_batch = 0, squares = 0;
    for (std::int64_t row = 0; row < 35; ++row) of_batch += y.matrix<double>().row(row)[channel] / 35;
    for (std::int64_t row = 0; row < 35; ++row) squares += std::pow(y.matrix<double>().row(row)[channel] - of_batch, 2);
    const auto i = static_cast<std::size_t>(channel);
    EXPECT_NEAR(normed.ValueOf(3)[i], 0.9 * mean[i] + 0.1 * of_batch, 1e-12);
    EXPECT_NEAR(normed.ValueOf(4)[i], 0.9 * variance[i] + 0.1 * squares / 34, 1e-12);
  }
  EXPECT_NE(normed.layer(plain, x).rows.ToVector<double>(), before);
}

TEST(NormedConvolution, KeepsFrozenStatisticsInTraining) {
  const Normed frozen(BatchStatistics::frozen), trained;
  Context training, plain;
  training.training.emplace();
  const FeatureMaps x = Maps(4, DType::float64);
  const std::vector<double> mean = frozen.ValueOf(3);
  EXPECT_THAT(frozen.layer(training, x, Activation::relu).rows.ToVector<double>(),
              Pointwise(DoubleNear(1e-12), trained.layer(plain, x, Activation::relu).rows.ToVector<double>()));
  EXPECT_EQ(frozen.ValueOf(3), mean);
  for (std::size_t index = 1; index < 5; ++index) EXPECT_FALSE(frozen.parameters.all()[index].role.trained);
}

// Checks that a norm folded into packed weights gives the same result as with unpacked weights. Convolutions with
// groups are never packed.
TEST(NormedConvolution, FoldsTheNormIntoItsWeights) {
  for (const std::int64_t groups : {1, 2})
    for (const Compute compute : {Compute::float32, Compute::int8, Compute::int4}) {
      const Normed in_double(BatchStatistics::trained, groups);
      Normed normed(BatchStatistics::trained, groups, DType::float32);
      normed.parameters.SetCompute(compute);
      EXPECT_EQ(normed.parameters.all()[0].packed.columns(), groups == 1 ? 6 : 0);
      Context context;
      const std::vector<float> actual = normed.layer(context, Maps(4, DType::float32)).rows.ToVector<float>();
      const double tolerance = groups > 1 || compute == Compute::float32 ? 1e-5 : compute == Compute::int8 ? 0.1 : 0.8;
      EXPECT_THAT(
          std::vector<double>(actual.begin(), actual.end()),
          Pointwise(DoubleNear(tolerance), in_double.layer(context, Maps(4, DType::float64)).rows.ToVector<double>()))
          << groups << Name(compute);
    }
}

// Checks that weights packed for Winograd also include the norm, and are packed again for another compute type.
TEST(NormedConvolution, FoldsTheNormIntoWeightsForWinograd) {
  for (const Compute compute : {Compute::float32, Compute::int8}) {
    const auto result = [&](DType dtype) {
      Parameters parameters(dtype);
      const NormedConvolution layer(Scope(parameters) / "convolution", Scope(parameters) / "norm", 32, 40, kShape);
      parameters.Initialize(1);
      for (std::size_t index = 1; index < 5; ++index)
        parameters.all()[index].value.Fill(0.5 * static_cast<double>(index));
      parameters.Pack();
      if (dtype == DType::float32) {
        parameters.SetCompute(compute);
        EXPECT_EQ(parameters.all()[0].packed.rows(), compute == Compute::float32 ? 36 * 32 : 9 * 32);
        parameters.all()[0].value = {};  // as in a model that was loaded for inference
      }
      Context context;
      const Tensor y = layer(context, Maps(32, dtype), Activation::relu).rows;
      return dtype == DType::float32 ? std::vector<double>(y.span<float>().begin(), y.span<float>().end())
                                     : y.ToVector<double>();
    };
    const double tolerance = compute == Compute::float32 ? 1e-5 : 0.1;
    EXPECT_THAT(result(DType::float32), Pointwise(DoubleNear(tolerance), result(DType::float64)));
  }
}

TEST(Convolution, AddsItsBiasAndTheResidual) {
  Parameters parameters(DType::float64);
  const Convolution with(Scope(parameters) / "with", 4, 6, kShape);
  const Convolution without(Scope(parameters) / "without", 4, 6, kShape, /*bias=*/false);
  parameters.Initialize(1);
  parameters.all()[1].value.Fill(0.25);
  parameters.all()[2].value.CopyFrom(parameters.all()[0].value);
  Context context;
  const FeatureMaps x = Maps(4, DType::float64);
  const Tensor plain = without(context, x).rows;
  std::vector<double> expected = plain.ToVector<double>();
  for (double& value : expected) value = std::tanh(2 * value + 0.25);
  EXPECT_THAT(with(context, x, Activation::tanh, plain).rows.ToVector<double>(),
              Pointwise(DoubleNear(1e-12), expected));
}

TEST(MapsOf, PacksImagesOfAnySizes) {
  const std::vector<Tensor> images = {Tensor::From({1.0F, 2.0F}, {1, 1, 2}),
                                      Tensor::From({3.0F, 4.0F, 5.0F, 6.0F}, {2, 1, 2})};
  const FeatureMaps maps = MapsOf(images, 2, DType::float32);
  EXPECT_EQ(maps.rows.ToVector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(maps.grids, (std::vector<Grid>{{1, 1}, {2, 1}}));
  EXPECT_THAT(ErrorOf([&] { MapsOf(images, 3, DType::float32); }), testing::HasSubstr("[height, width, 3]"));
}

}  // namespace
}  // namespace headlight::convolution_test
