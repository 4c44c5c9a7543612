// ResNet (He et al., "Deep Residual Learning for Image Recognition", 2015) is a convolutional network with shortcuts.
// Its stages halve the size of the feature maps and double their channels. It is used for classification, and as the
// backbone of detectors.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/nn/convolution.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h
class JsonView;     // defined in base/json.h

/// The defaults are the settings of ResNet-50.
struct ResnetConfig {
  std::int64_t channels = 3;                                  ///< number of channels of the images
  std::int64_t embedding = 64;                                ///< number of channels after the stem
  std::vector<std::int64_t> hidden = {256, 512, 1024, 2048};  ///< number of channels of each stage
  std::vector<std::int64_t> depths = {3, 4, 6, 3};            ///< number of layers of each stage
  bool bottleneck = true;                    ///< if true, layers have three convolutions instead of two
  Activation activation = Activation::relu;  ///< activation after the stem and after each residual sum
  /// The layers with strides. The first layer of a stage has a stride in its 3 x 3 convolution, or in its first 1 x 1
  /// convolution if `downsample_in_bottleneck` is true. The first stage only has a stride if
  /// `downsample_in_first_stage` is true.
  bool downsample_in_first_stage = false, downsample_in_bottleneck = false;
  bool classes = false;
  std::vector<std::string> labels = {};
  std::string scope =
      "resnet";  ///< prefix of the backbone's parameter names; empty in checkpoints of the backbone only
};
HEADLIGHT_API void Describe(ConfigTable& table, ResnetConfig& config);

/// Returns the configuration of the timm ResNet with this name. The supported models differ only in depth. Throws Error
/// for other names.
ResnetConfig ResnetOfTimm(const JsonView& name);

/// The naming schemes of parameters in checkpoints. For example, encoder.stages.0.layers.0.layer.0.convolution in
/// Transformers is layer1.0.conv1 in timm.
enum class ResnetNames { transformers, timm };

/// Computes activation(F(x) + shortcut(x)). F has two 3 x 3 convolutions, or a 1 x 1, a 3 x 3 and a 1 x 1 convolution
/// (figure 5).
class ResnetLayer {
 public:
  ResnetLayer(const Scope& scope, const ResnetConfig& config, ResnetNames names, BatchStatistics statistics,
              std::int64_t inputs, std::int64_t outputs, std::int64_t stride);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  Activation activation_;
  std::vector<NormedConvolution> convolutions_;
  std::optional<NormedConvolution> shortcut_;  // only if x and F(x) have different sizes
};

class HEADLIGHT_API ResnetBackbone {
 public:
  ResnetBackbone(const Scope& scope, const ResnetConfig& config, ResnetNames names = ResnetNames::transformers,
                 BatchStatistics statistics = BatchStatistics::trained);

  /// Returns the feature maps after the stem and after each stage. `images` are from MapsOf.
  std::vector<FeatureMaps> operator()(Context& context, const FeatureMaps& images) const;

 private:
  Activation activation_;
  NormedConvolution stem_;
  std::vector<std::deque<ResnetLayer>> stages_;
};

/// Returns the names of the num_batches_tracked tensors of published checkpoints. LoadWeights ignores these tensors.
HEADLIGHT_API std::vector<std::string> BatchCounts(const ModelFolder& files);

class HEADLIGHT_API Resnet : public ImageEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Resnet(const ResnetConfig& config, DType dtype = DType::float32);

  /// Returns the last stage's feature map of each image. There are no special tokens.
  EncodedImages Encode(Context& context, std::span<const Tensor> images,
                       std::span<const std::uint8_t> masked = {}) const override;
  Tensor Pool(Context& context, const EncodedImages& encoded) const override;  ///< returns the mean of each feature map
  Tensor ClassLogits(Context& context, const EncodedImages& encoded) const override;
  Tensor Pixels(Context& context, const EncodedImages& encoded) const override;

  const ResnetBackbone& backbone() const { return backbone_; }
  const ResnetConfig& config() const { return config_; }
  Json::Object Description() const override;
  std::unique_ptr<ImageEncoder> WithClasses(const std::vector<std::string>& labels) const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  ResnetConfig config_;
  ResnetBackbone backbone_;
  std::optional<Linear> classes_;
};

}  // namespace headlight
