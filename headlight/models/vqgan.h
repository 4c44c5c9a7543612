// The decoder of a VQGAN (Esser et al., "Taming Transformers for High-Resolution Image Synthesis", 2021, table 7) for
// DALL-E mini's codes. It has residual blocks and self-attention with group norms, and nearest-neighbor upsampling.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/nn/attention.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of DALL-E mini.
struct VqganConfig {
  std::int64_t image = 256;  ///< in pixels per side
  std::int64_t codes = 16384;
  std::int64_t code_width = 256;  ///< size of a code's embedding
  std::int64_t inputs = 256;      ///< number of channels of the decoder's input
  std::int64_t channels = 128;    ///< base number of channels, which is multiplied by each stage's factor
  std::vector<std::int64_t> factors = {1, 1, 2, 2, 4};
  int blocks = 2;                               ///< number of residual blocks per stage, minus 1
  std::vector<std::int64_t> attentions = {16};  ///< sides of feature maps with attention after each block
  std::int32_t groups = 32;                     ///< number of groups of every group norm
};
HEADLIGHT_API void Describe(ConfigTable& table, VqganConfig& config);

/// Computes x plus two 3 x 3 convolutions of x, each after a norm and SiLU. If the number of channels changes, x is
/// also convolved.
class HEADLIGHT_API VqganBlock {
 public:
  VqganBlock(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int32_t groups);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  GroupNorm first_norm_, second_norm_;
  Convolution first_, second_;
  std::optional<Convolution> shortcut_;
};

/// Computes x + Attention(norm(x)) with one head, over all cells of a feature map.
class HEADLIGHT_API VqganAttention {
 public:
  VqganAttention(const Scope& scope, std::int64_t channels, std::int32_t groups, int layer);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  GroupNorm norm_;
  MultiHeadAttention attention_;
};

class HEADLIGHT_API Vqgan : public ImageCoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Vqgan(const VqganConfig& config, DType dtype = DType::float32);

  FeatureMaps Decode(Context& context, const FeatureMaps& weights) const override;

  const VqganConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  struct Stage {
    std::deque<VqganBlock> blocks;
    std::deque<VqganAttention> attentions;  // one after each block, or empty
    std::optional<Convolution> doubled;     // convolution after the upsampling; none in the last stage
  };

  VqganConfig config_;
  std::optional<Linear> codebook_;
  std::optional<Convolution> widened_, input_, output_;
  std::optional<VqganBlock> first_block_, second_block_;
  std::optional<VqganAttention> attention_;
  std::deque<Stage> stages_;  // the stage of the smallest feature map is first
  std::optional<GroupNorm> output_norm_;
};

}  // namespace headlight
