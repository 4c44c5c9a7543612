// ResNet (He et al., "Deep Residual Learning for Image Recognition", 2015): convolutions with shortcuts, in stages that
// halve the maps and double their channels. For classes, and as the backbone of detectors.
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

class ConfigTable;  // io/config_table.h
class JsonView;     // base/json.h

// The defaults are those of ResNet-50.
struct ResnetConfig {
  std::int64_t channels = 3;                                  // of images
  std::int64_t embedding = 64;                                // channels after the stem
  std::vector<std::int64_t> hidden = {256, 512, 1024, 2048};  // channels of each stage
  std::vector<std::int64_t> depths = {3, 4, 6, 3};            // layers of each stage
  bool bottleneck = true;                                     // layers of three convolutions, else of two
  Activation activation = Activation::relu;                   // after the stem and after each sum
  // The stride of a stage is in its first layer's 3 x 3 convolution, or in its first 1 x 1; the first stage has none
  // unless `downsample_in_first_stage`.
  bool downsample_in_first_stage = false, downsample_in_bottleneck = false;
  bool classes = false;
  std::vector<std::string> labels = {};
  std::string scope = "resnet";  // of the backbone's names; empty in checkpoints of the backbone alone
};
HEADLIGHT_API void Describe(ConfigTable& table, ResnetConfig& config);

// One of timm's, which differ in their depths alone, by its name there. Throws Error where it is none.
ResnetConfig ResnetOfTimm(const JsonView& name);

// How a checkpoint names the parts: transformers' encoder.stages.0.layers.0.layer.0.convolution is timm's
// layer1.0.conv1.
enum class ResnetNames { transformers, timm };

// activation(F(x) + shortcut(x)), with F of two 3 x 3 convolutions, or a 1 x 1, a 3 x 3 and a 1 x 1 (figure 5).
class ResnetLayer {
 public:
  ResnetLayer(const Scope& scope, const ResnetConfig& config, ResnetNames names, BatchStatistics statistics,
              std::int64_t inputs, std::int64_t outputs, std::int64_t stride);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  Activation activation_;
  std::vector<NormedConvolution> convolutions_;
  std::optional<NormedConvolution> shortcut_;  // where the sizes of x and F(x) differ
};

class HEADLIGHT_API ResnetBackbone {
 public:
  ResnetBackbone(const Scope& scope, const ResnetConfig& config, ResnetNames names = ResnetNames::transformers,
                 BatchStatistics statistics = BatchStatistics::trained);

  // The maps after the stem and after each stage, of images as MapsOf has them.
  std::vector<FeatureMaps> operator()(Context& context, const FeatureMaps& images) const;

 private:
  Activation activation_;
  NormedConvolution stem_;
  std::vector<std::deque<ResnetLayer>> stages_;
};

// Tensors of published checkpoints that count the batches of training, for LoadWeights to leave out.
HEADLIGHT_API std::vector<std::string> BatchCounts(const ModelFolder& files);

class HEADLIGHT_API Resnet : public ImageEncoder {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or LoadModel. Throws Error naming the
  // hyperparameter and the rule where there can be no such model.
  explicit Resnet(const ResnetConfig& config, DType dtype = DType::float32);

  // The last stage's map of each image; there are no special tokens.
  EncodedImages Encode(Context& context, std::span<const Tensor> images,
                       std::span<const std::uint8_t> masked = {}) const override;
  Tensor Pool(Context& context, const EncodedImages& encoded) const override;  // the mean of each map
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
