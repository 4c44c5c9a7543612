// The decoder of a VQGAN (Esser et al., "Taming Transformers for High-Resolution Image Synthesis", 2021, table 7),
// which makes the images of DALL-E mini's codes: residual blocks and attention between cells, with group norms, and
// nearest neighbours that double the sides.
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

// The defaults are those of DALL-E mini.
struct VqganConfig {
  std::int64_t image = 256;  // pixels of a side
  std::int64_t codes = 16384;
  std::int64_t code_width = 256;  // of a code's vector
  std::int64_t inputs = 256;      // channels of the decoder's input
  std::int64_t channels = 128;    // times the factor of each stage, whose sides are halves of the one before it
  std::vector<std::int64_t> factors = {1, 1, 2, 2, 4};
  int blocks = 2;                               // residual ones of a stage, and one more
  std::vector<std::int64_t> attentions = {16};  // sides of a map in whose stage each block is followed by attention
  std::int32_t groups = 32;                     // of every norm
};
HEADLIGHT_API void Describe(ConfigTable& table, VqganConfig& config);

// x + convolutions of 3 x 3, each after a norm and silu; where the channels change, x is convolved, too.
class HEADLIGHT_API VqganBlock {
 public:
  VqganBlock(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int32_t groups);
  FeatureMaps operator()(Context& context, const FeatureMaps& x) const;

 private:
  GroupNorm first_norm_, second_norm_;
  Convolution first_, second_;
  std::optional<Convolution> shortcut_;
};

// x + Attention(norm(x)) of one head, in which a cell of a map sees all.
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
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or LoadModel. Throws Error naming the
  // hyperparameter and the rule where there can be no such model.
  explicit Vqgan(const VqganConfig& config, DType dtype = DType::float32);

  FeatureMaps Decode(Context& context, const FeatureMaps& weights) const override;

  const VqganConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  struct Stage {
    std::deque<VqganBlock> blocks;
    std::deque<VqganAttention> attentions;  // after each block, or none
    std::optional<Convolution> doubled;     // after the sides were doubled, but in the last stage
  };

  VqganConfig config_;
  std::optional<Linear> codebook_;
  std::optional<Convolution> widened_, input_, output_;
  std::optional<VqganBlock> first_block_, second_block_;
  std::optional<VqganAttention> attention_;
  std::deque<Stage> stages_;  // the one with the fewest cells first
  std::optional<GroupNorm> output_norm_;
};

}  // namespace headlight
