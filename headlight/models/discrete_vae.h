// The discrete variational autoencoder of DALLE-pytorch, smaller than that of DALL-E's authors (Ramesh et al.,
// "Zero-Shot Text-to-Image Generation", 2021, section 2.1). The encoder's convolutions halve an image and score the
// codes. The decoder's transposed convolutions double the map of code embeddings.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/image_coder.h"

namespace headlight {

class ConfigTable;  // io/config_table.h

struct DiscreteVaeConfig {
  std::int64_t image = 256;  ///< pixels per side
  std::int64_t codes = 512;
  std::int64_t code_width = 512;  ///< size of a code's embedding
  int layers = 3;                 ///< each halves, or doubles, the sides
  int blocks = 0;                 ///< residual blocks between those and the codes
  std::int64_t hidden = 64;       ///< channels
  PixelDistribution distribution = PixelDistribution::normal;
};
HEADLIGHT_API void Describe(ConfigTable& table, DiscreteVaeConfig& config);

/// x + convolutions of 3 x 3, 3 x 3 and 1 x 1 with ReLU between them.
class VaeBlock {
 public:
  VaeBlock(const Scope& scope, std::int64_t channels);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  Convolution first_, second_, third_;
};

class HEADLIGHT_API DiscreteVae : public ImageCoder {
 public:
  /// Declares the parameters; parameters().Initialise(seed) or LoadModel sets their values. Throws Error naming an
  /// invalid hyperparameter.
  explicit DiscreteVae(const DiscreteVaeConfig& config, DType dtype = DType::float32);

  FeatureMaps Encode(Context& context, const FeatureMaps& pixels) const override;
  FeatureMaps Decode(Context& context, const FeatureMaps& weights) const override;

  const DiscreteVaeConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override { return {{"layers", config_.layers}}; }

 private:
  DiscreteVaeConfig config_;
  const Parameter* codebook_ = nullptr;  // [code width, codes]
  std::deque<Convolution> halving_;
  std::deque<VaeBlock> encoder_blocks_, decoder_blocks_;
  std::optional<Convolution> scores_, widened_, pixels_;
  std::deque<TransposedConvolution> doubling_;
};

}  // namespace headlight
