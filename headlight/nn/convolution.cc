#include "headlight/nn/convolution.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/kernels/winograd.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/channel_norm.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

constexpr double kKept = 0.9;  // decay of running averages per step

// Applies activations except relu, which is fused into the convolution.
FeatureMaps Activated(Activation activation, FeatureMaps x) {
  if (activation != Activation::relu) x.rows = ops::Activate(activation, x.rows);
  return x;
}

void Observe(Context& context, const Parameter& average, const Tensor& of_batch, double factor) {
  BatchStatistic statistic{&average, {}};
  Dispatch(of_batch.dtype(), [&]<typename T>(T) {
    for (const T value : of_batch.span<T>()) statistic.of_batch.push_back(factor * static_cast<double>(value));
  });
  if (context.training->statistics != nullptr)
    context.training->statistics->push_back(std::move(statistic));
  else
    KeepAverage(statistic);
}

// Returns 1 / sqrt(variance + epsilon).
Tensor Inverse(const Tensor& variance, double epsilon) {
  const Tensor inverse = Tensor::Empty(variance.shape(), variance.dtype());
  Dispatch(variance.dtype(), [&]<typename T>(T) {
    std::ranges::transform(variance.span<T>(), inverse.span<T>().begin(),
                           [&](T value) { return 1 / std::sqrt(value + static_cast<T>(epsilon)); });
  });
  return inverse;
}

// Returns bias - mean * gain / sqrt(variance + epsilon). It is computed in one loop, because composed operations take
// longer than a small convolution.
Tensor Shift(const Tensor& gain, const Tensor& bias, const Tensor& mean, const Tensor& variance, double epsilon) {
  const Tensor shift = Tensor::Empty(bias.shape(), bias.dtype());
  Dispatch(bias.dtype(), [&]<typename T>(T) {
    const T *const gains = gain.data<T>(), *const means = mean.data<T>(), *const variances = variance.data<T>();
    for (std::int64_t i = 0; i < bias.elements(); ++i)
      shift.data<T>()[i] = bias.data<T>()[i] - means[i] * gains[i] / std::sqrt(variances[i] + static_cast<T>(epsilon));
  });
  return shift;
}

}  // namespace

FeatureMaps MapsOf(std::span<const Tensor> images, std::int64_t channels, DType dtype) {
  FeatureMaps maps;
  std::int64_t cells = 0;
  for (const Tensor& image : images) {
    Check(image.shape().rank() == 3 && image.shape()[2] == channels && image.elements() > 0,
          "an image must be [height, width, {}], not {}", channels, ToString(image.shape()));
    maps.grids.push_back({image.shape()[0], image.shape()[1]});
    cells += maps.grids.back().cells();
  }
  maps.rows = Tensor::Empty({cells, channels}, dtype);
  Dispatch(dtype, [&]<typename T>(T) {
    T* to = maps.rows.data<T>();
    for (const Tensor& image : images)
      to = std::ranges::transform(image.span<float>(), to, [](float value) { return static_cast<T>(value); }).out;
  });
  return maps;
}

Convolution::Convolution(const Scope& scope, std::int64_t inputs, std::int64_t outputs, const ConvolutionShape& shape,
                         bool bias, const ConvolutionNames& names)
    : shape_(shape),
      // Grouped convolutions cannot use the panels of one packed matrix.
      weight_(&scope.DeclareKernel(names.weight,
                                   {outputs, shape.kernel.height, shape.kernel.width, inputs / shape.groups},
                                   /*in_products=*/shape.groups == 1)) {
  Ensure(inputs % shape.groups == 0 && outputs % shape.groups == 0, "{} inputs and {} outputs in {} groups", inputs,
         outputs, shape.groups);
  weight_->role.winograd = kernels::SuitsWinograd(shape, inputs, outputs);
  if (bias) bias_ = &scope.DeclareVector({names.bias}, outputs);
}

FeatureMaps Convolution::operator()(Context& context, const FeatureMaps& x, Activation activation,
                                    const Tensor& residual) const {
  ops::Weight weight = context.UseWeight(*weight_);
  if (!weight_->role.in_products && IsQuantized(weight.compute)) weight.compute = Compute::float32;
  return Activated(activation, ops::Convolution(x, shape_, weight,
                                                {.bias = bias_ != nullptr ? context.Use(*bias_) : Tensor(),
                                                 .residual = residual,
                                                 .relu = activation == Activation::relu}));
}

TransposedConvolution::TransposedConvolution(const Scope& scope, std::int64_t inputs, std::int64_t outputs,
                                             const ConvolutionShape& shape)
    : shape_(shape),
      // The transposed convolution requires the unpacked matrix.
      weight_(&scope.DeclareKernel("weight", {inputs, shape.kernel.height, shape.kernel.width, outputs},
                                   /*in_products=*/false)),
      bias_(&scope.DeclareVector({"bias"}, outputs)) {}

FeatureMaps TransposedConvolution::operator()(Context& context, const FeatureMaps& x, Activation activation) const {
  ops::Weight weight = context.UseWeight(*weight_);
  if (IsQuantized(weight.compute)) weight.compute = Compute::float32;
  FeatureMaps y = ops::TransposedConvolution(x, shape_, weight, context.Use(*bias_));
  y.rows = ops::Activate(activation, y.rows);
  return y;
}

void KeepAverage(const BatchStatistic& statistic) {
  Dispatch(statistic.average->value.dtype(), [&]<typename T>(T) {
    const std::span<T> kept = statistic.average->value.span<T>();
    for (std::size_t i = 0; i < kept.size(); ++i)
      kept[i] = static_cast<T>(kKept * static_cast<double>(kept[i]) + (1 - kKept) * statistic.of_batch[i]);
  });
}

NormedConvolution::NormedConvolution(const Scope& convolution, const Scope& norm, std::int64_t inputs,
                                     std::int64_t outputs, const ConvolutionShape& shape, BatchStatistics statistics,
                                     double epsilon)
    : convolution_(convolution, inputs, outputs, shape, /*bias=*/false), statistics_(statistics), epsilon_(epsilon) {
  const auto declare = [&](const char* name, double value, bool trained) {
    Parameter& parameter = norm.Declare(name, {outputs}, Initialization::Constant(value));
    parameter.role.trained = trained;
    return &parameter;
  };
  const bool trained = statistics == BatchStatistics::trained;
  gain_ = declare("weight", 1, trained);
  bias_ = declare("bias", 0, trained);
  Parameter *const mean = declare("running_mean", 0, false), *const variance = declare("running_var", 1, false);
  mean->role.statistic = variance->role.statistic = trained;
  mean_ = mean;
  variance_ = variance;
  convolution_.weight_->role.folded = {gain_, variance_, epsilon};
}

FeatureMaps NormedConvolution::operator()(Context& context, const FeatureMaps& x, Activation activation,
                                          const Tensor& residual) const {
  const Tensor gain = context.Use(*gain_), bias = context.Use(*bias_);
  if (context.training && statistics_ == BatchStatistics::trained) {
    FeatureMaps y = convolution_(context, x);
    const double rows = static_cast<double>(y.rows.rows());
    Check(rows > 1, "batch norm in training needs more than one value per channel in the batch");
    const ops::BatchNormalized normalized = ops::BatchNorm(y.rows, gain, bias, epsilon_);
    Observe(context, *mean_, normalized.mean, 1);
    Observe(context, *variance_, normalized.variance, rows / (rows - 1));
    y.rows = residual.empty() ? normalized.y : ops::Add(normalized.y, residual);
    y.rows = ops::Activate(activation, y.rows);
    return y;
  }
  // The norm is folded: norm(x * W) = x * (s W) + (bias - s mean), with s = gain / sqrt(variance + epsilon) per output.
  const Parameter& kernel = *convolution_.weight_;
  ops::AfterConvolution after = {.bias = {}, .residual = residual, .relu = activation == Activation::relu};
  ops::Weight weight = context.UseWeight(kernel);
  if (weight.packed != nullptr && !RequiresGradient({&x.rows, &weight.value, &gain, &bias})) {
    after.bias = Shift(gain, bias, mean_->value, variance_->value, epsilon_);
  } else {
    const Tensor factor = ops::Multiply(gain, Inverse(variance_->value, epsilon_));
    after.bias = ops::Add(bias, ops::Scale(ops::Multiply(factor, mean_->value), -1));
    weight.packed = nullptr;
    weight.value = ops::Multiply(weight.value, ops::Reshape(factor, {factor.elements(), 1}));
    if (!kernel.role.in_products && IsQuantized(weight.compute)) weight.compute = Compute::float32;
  }
  return Activated(activation, ops::Convolution(x, convolution_.shape_, weight, after));
}

GroupNorm::GroupNorm(const Scope& scope, std::int64_t groups, std::int64_t channels, double epsilon)
    : groups_(groups),
      gain_(&scope.Declare("weight", {channels}, Initialization::Constant(1))),
      bias_(&scope.Declare("bias", {channels}, Initialization::Constant(0))),
      epsilon_(epsilon) {}

FeatureMaps GroupNorm::operator()(Context& context, const FeatureMaps& x) const {
  return {ops::GroupNorm(x, groups_, context.Use(*gain_), context.Use(*bias_), epsilon_), x.grids};
}

}  // namespace headlight
