// The discrete variational autoencoder of DALLE-pytorch, which is smaller than the autoencoder in the DALL-E paper
// (Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.1). The encoder's strided convolutions halve
// the height and width and compute logits of the codes. The decoder's transposed convolutions double the height and
// width of the map of code embeddings.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/image_coder.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

struct DiscreteVaeConfig {
  std::int64_t image = 256;  ///< in pixels per side
  std::int64_t codes = 512;
  std::int64_t code_width = 512;  ///< size of a code's embedding
  int layers = 3;                 ///< number of layers; each halves or doubles the sides
  int blocks = 0;                 ///< number of residual blocks at the lowest resolution
  std::int64_t hidden = 64;       ///< number of hidden channels
  PixelDistribution distribution = PixelDistribution::normal;
};
HEADLIGHT_API void Describe(ConfigTable& table, DiscreteVaeConfig& config);

/// Computes x plus convolutions of 3 x 3, 3 x 3 and 1 x 1 with ReLU between them.
class VaeBlock {
 public:
  VaeBlock(const Scope& scope, std::int64_t channels);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  Convolution first_, second_, third_;
};

class HEADLIGHT_API DiscreteVae : public ImageCoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
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
