// The parts of convolutional networks: Convolution, TransposedConvolution, BatchNorm, NormedConvolution, GroupNorm.
// They work on the feature maps of images of any sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/nn/context.h"
#include "headlight/nn/parameters.h"
#include "headlight/ops/convolution.h"
#include "headlight/ops/feature_maps.h"

namespace headlight {

using ops::ConvolutionShape;
using ops::FeatureMaps;

// Images [height, width, channels] as maps. Throws Error for other channels and for an image without pixels.
HEADLIGHT_API FeatureMaps MapsOf(std::span<const Tensor> images, std::int64_t channels, DType dtype);

// The names of a convolution's parameters in a checkpoint.
struct ConvolutionNames {
  std::string weight = "weight", bias = "bias";
};

// y = x * W + b, then, where there is one, the sum with a residual, and the activation.
class HEADLIGHT_API Convolution {
 public:
  // Declares weight [outputs, inputs / groups, height, width] and, with a bias, bias [outputs].
  Convolution(const Scope& scope, std::int64_t inputs, std::int64_t outputs, const ConvolutionShape& shape,
              bool bias = true, const ConvolutionNames& names = {});

  FeatureMaps operator()(Context& context, const FeatureMaps& x, Activation activation = Activation::none,
                         const Tensor& residual = {}) const;

 private:
  friend class NormedConvolution;

  ConvolutionShape shape_;
  Parameter* weight_;
  const Parameter* bias_ = nullptr;
};

// The reverse of a convolution of this shape, which makes maps larger (ops/convolution.h), and the activation.
class HEADLIGHT_API TransposedConvolution {
 public:
  // Declares weight [inputs, outputs, height, width] and bias [outputs].
  TransposedConvolution(const Scope& scope, std::int64_t inputs, std::int64_t outputs, const ConvolutionShape& shape);

  FeatureMaps operator()(Context& context, const FeatureMaps& x, Activation activation = Activation::none) const;

 private:
  ConvolutionShape shape_;
  const Parameter *weight_, *bias_;
};

enum class BatchStatistics {
  trained,  // in training those of the batch, from which running averages are kept for use
  frozen,   // always the running averages
};

// Sets a running average to 0.9 of itself and 0.1 of the batch's statistic.
HEADLIGHT_API void KeepAverage(const BatchStatistic& statistic);

// A convolution without a bias and a batch norm (Ioffe and Szegedy, 2015), which is folded into the weights except
// where it takes the batch's statistics.
class HEADLIGHT_API NormedConvolution {
 public:
  // Declares the convolution's weight, and weight, bias, running_mean and running_var [outputs] of the norm. A frozen
  // norm's are not trained.
  NormedConvolution(const Scope& convolution, const Scope& norm, std::int64_t inputs, std::int64_t outputs,
                    const ConvolutionShape& shape, BatchStatistics statistics = BatchStatistics::trained,
                    double epsilon = 1e-5);

  // activation(norm(x * W) + residual). In training a trained norm sets the running averages to 0.9 of themselves and
  // 0.1 of the batch's mean and variance (that of samples), or hands those to TrainingPass::statistics: they are
  // parameters that no gradient trains, and no other pass may use the model meanwhile.
  FeatureMaps operator()(Context& context, const FeatureMaps& x, Activation activation = Activation::none,
                         const Tensor& residual = {}) const;

 private:
  Convolution convolution_;
  const Parameter *gain_, *bias_, *mean_, *variance_;
  BatchStatistics statistics_;
  double epsilon_;
};

// (x - mean) / sqrt(variance + epsilon) * gain + bias, the moments of each map and group of channels (Wu and He, 2018).
class HEADLIGHT_API GroupNorm {
 public:
  // Declares weight (the gain, 1) and bias (0), both [channels].
  GroupNorm(const Scope& scope, std::int64_t groups, std::int64_t channels, double epsilon = 1e-5);

  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  std::int64_t groups_;
  const Parameter *gain_, *bias_;
  double epsilon_;
};

}  // namespace headlight
