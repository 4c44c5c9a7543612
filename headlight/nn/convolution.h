// Layers of convolutional networks: Convolution, TransposedConvolution, NormedConvolution, GroupNorm. The images of a
// batch may differ in size.
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

/// Packs images [height, width, channels] into feature maps. Throws Error for a different number of channels or an
/// image without pixels.
HEADLIGHT_API FeatureMaps MapsOf(std::span<const Tensor> images, std::int64_t channels, DType dtype);

/// The names of a convolution's parameters in a checkpoint.
struct ConvolutionNames {
  std::string weight = "weight", bias = "bias";
};

/// Computes y = activation(x * W + b + residual). The residual may be empty.
class HEADLIGHT_API Convolution {
 public:
  /// Declares weight [outputs, inputs / groups, height, width] and bias [outputs] if `bias` is true.
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

/// A transposed convolution, which enlarges maps (ops/convolution.h), followed by an activation.
class HEADLIGHT_API TransposedConvolution {
 public:
  /// Declares weight [inputs, outputs, height, width] and bias [outputs].
  TransposedConvolution(const Scope& scope, std::int64_t inputs, std::int64_t outputs, const ConvolutionShape& shape);

  FeatureMaps operator()(Context& context, const FeatureMaps& x, Activation activation = Activation::none) const;

 private:
  ConvolutionShape shape_;
  const Parameter *weight_, *bias_;
};

/// Determines the statistics that a batch norm uses in training.
enum class BatchStatistics {
  trained,  ///< uses the batch's statistics in training and updates running averages for inference
  frozen,   ///< always uses the running averages
};

/// Updates a running average: average = 0.9 average + 0.1 statistic.
HEADLIGHT_API void KeepAverage(const BatchStatistic& statistic);

/// A convolution without bias, followed by batch norm (Ioffe and Szegedy, 2015). The norm is folded into the weights
/// unless it uses the batch's statistics.
class HEADLIGHT_API NormedConvolution {
 public:
  /// Declares the convolution's weight, and the norm's weight, bias, running_mean and running_var [outputs]. The
  /// parameters of a frozen norm are not trained.
  NormedConvolution(const Scope& convolution, const Scope& norm, std::int64_t inputs, std::int64_t outputs,
                    const ConvolutionShape& shape, BatchStatistics statistics = BatchStatistics::trained,
                    double epsilon = 1e-5);

  /// Computes activation(norm(x * W) + residual). In training, a trained norm updates its running averages with
  /// momentum 0.1 from the batch's mean and unbiased variance. If TrainingPass::statistics is set, the norm appends the
  /// mean and variance to that vector instead. The running averages are parameters without gradients. No other pass may
  /// use the model during the update.
  FeatureMaps operator()(Context& context, const FeatureMaps& x, Activation activation = Activation::none,
                         const Tensor& residual = {}) const;

 private:
  Convolution convolution_;
  const Parameter *gain_, *bias_, *mean_, *variance_;
  BatchStatistics statistics_;
  double epsilon_;
};

/// Computes (x - mean) / sqrt(variance + epsilon) * gain + bias, with the mean and variance of each map and channel
/// group (Wu and He, 2018).
class HEADLIGHT_API GroupNorm {
 public:
  /// Declares weight (the gain, initially 1) and bias (initially 0), both [channels].
  GroupNorm(const Scope& scope, std::int64_t groups, std::int64_t channels, double epsilon = 1e-5);

  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  std::int64_t groups_;
  const Parameter *gain_, *bias_;
  double epsilon_;
};

}  // namespace headlight
