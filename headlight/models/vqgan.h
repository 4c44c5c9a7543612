// The decoder of a VQGAN (Esser et al., "Taming Transformers for High-Resolution Image Synthesis", 2021, table 7),
// which decodes DALL-E mini's codes. It has residual blocks and self-attention with group norms, and nearest-neighbour
// upsampling.
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

class ConfigTable;  // io/config_table.h

/// The defaults are those of DALL-E mini.
struct VqganConfig {
  std::int64_t image = 256;  ///< pixels per side
  std::int64_t codes = 16384;
  std::int64_t code_width = 256;  ///< size of a code's embedding
  std::int64_t inputs = 256;      ///< channels of the decoder's input
  std::int64_t channels = 128;    ///< times the factor of each stage; each stage halves the side of the one before it
  std::vector<std::int64_t> factors = {1, 1, 2, 2, 4};
  int blocks = 2;                               ///< residual blocks per stage, plus one
  std::vector<std::int64_t> attentions = {16};  ///< sides of the maps of stages with attention after each block
  std::int32_t groups = 32;                     ///< of every norm
};
HEADLIGHT_API void Describe(ConfigTable& table, VqganConfig& config);

/// x + convolutions of 3 x 3, each after a norm and SiLU; if the number of channels changes, x is convolved, too.
class HEADLIGHT_API VqganBlock {
 public:
  VqganBlock(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int32_t groups);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  GroupNorm first_norm_, second_norm_;
  Convolution first_, second_;
  std::optional<Convolution> shortcut_;
};

/// x + Attention(norm(x)) with one head, over all cells of a feature map.
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
  /// Declares the parameters; parameters().Initialise(seed) or LoadModel sets their values. Throws Error naming an
  /// invalid hyperparameter.
  explicit Vqgan(const VqganConfig& config, DType dtype = DType::float32);

  FeatureMaps Decode(Context& context, const FeatureMaps& weights) const override;

  const VqganConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  struct Stage {
    std::deque<VqganBlock> blocks;
    std::deque<VqganAttention> attentions;  // after each block, or empty
    std::optional<Convolution> doubled;     // after the upsampling; none in the last stage
  };

  VqganConfig config_;
  std::optional<Linear> codebook_;
  std::optional<Convolution> widened_, input_, output_;
  std::optional<VqganBlock> first_block_, second_block_;
  std::optional<VqganAttention> attention_;
  std::deque<Stage> stages_;  // smallest feature map first
  std::optional<GroupNorm> output_norm_;
};

}  // namespace headlight
