// The discrete variational autoencoder that the authors of DALL-E published (Ramesh et al., "Zero-Shot Text-to-Image
// Generation", 2021, appendix A.1). The encoder and the decoder are residual convolutional networks.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/image_coder.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of the published model. Images of 256 x 256 pixels become 32 x 32 codes.
struct OpenAiVaeConfig {
  std::int64_t image = 256;  ///< in pixels per side
  std::int64_t codes = 8192;
  std::int64_t hidden = 256;   ///< number of channels of the encoder's first group and the decoder's last group
  std::int64_t decoder = 128;  ///< number of channels of the decoder's input
  std::int32_t blocks = 2;     ///< number of blocks in each of the four groups
};
HEADLIGHT_API void Describe(ConfigTable& table, OpenAiVaeConfig& config);

/// Computes identity(x) + gain * res(x). res consists of four convolutions, each after a ReLU.
class OpenAiVaeBlock {
 public:
  /// `encoder` determines the position of the 1 x 1 convolution: last in the encoder, and first in the decoder.
  OpenAiVaeBlock(const Scope& scope, std::int64_t inputs, std::int64_t outputs, bool encoder, double gain);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  double gain_;
  std::optional<Convolution> identity_;  // only if the number of channels changes
  std::deque<Convolution> residual_;
};

class HEADLIGHT_API OpenAiVae : public ImageCoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit OpenAiVae(const OpenAiVaeConfig& config, DType dtype = DType::float32);

  FeatureMaps Encode(Context& context, const FeatureMaps& pixels) const override;
  FeatureMaps Decode(Context& context, const FeatureMaps& weights) const override;

  const OpenAiVaeConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  struct Half {  // the layers of the encoder or the decoder
    std::optional<Convolution> input, output;
    std::deque<std::deque<OpenAiVaeBlock>> groups;
  };
  Half DeclareHalf(const Scope& scope, bool encoder) const;

  OpenAiVaeConfig config_;
  Half encoder_, decoder_;
};

}  // namespace headlight
