// Versions 2 and 3 of DeBERTa (He et al., "DeBERTaV3: Improving DeBERTa using ELECTRA-Style Pre-Training with
// Gradient-Disentangled Embedding Sharing", 2023), which have one layout: DeBERTa with relative vectors in
// logarithmic buckets, projected by the matrices of the tokens, and a convolution in parallel with the first layer.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/models/deberta.h"

namespace headlight {

// The defaults are DeBERTaV3-base.
struct DebertaV2Config {
  DebertaConfig base = {
      .bert = {.norm_epsilon = 1e-7, .vocabulary = 128100, .types = 0, .on_top = {}, .scope = "deberta"}};
  std::int64_t buckets = 256;      // above half of them distances share buckets; 0: one vector per distance
  bool share_projections = true;   // relative vectors are projected by the tokens' matrices
  bool normalize_relative = true;  // relative vectors go through a norm
  std::int64_t convolution = 0;    // width of the one in parallel with the first layer; 0: none
  Activation convolution_activation = Activation::tanh;
};

HEADLIGHT_API void Describe(ConfigTable& table, DebertaV2Config& config);

// The row of the table of relative vectors for a query that stands `distance` places behind the key.
HEADLIGHT_API std::int64_t RelativeRow(const DebertaV2Config& config, std::int64_t distance);

class HEADLIGHT_API DebertaV2Layer {
 public:
  DebertaV2Layer(const Scope& scope, const DebertaV2Config& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const RelativeVectors& relative) const;

 private:
  DisentangledAttention attention_;
  double dropout_;
  Linear query_key_value_;
  std::optional<Linear> relative_key_, relative_query_;  // where they are not shared
  DebertaSublayers sublayers_;
};

class HEADLIGHT_API DebertaV2 : public TextEncoder {
 public:
  explicit DebertaV2(const DebertaV2Config& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const override;

  const DebertaV2Config& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const override;

 private:
  Tensor Convolve(Context& context, const Tensor& embedded, const Tensor& hidden, const Sequences& texts) const;

  DebertaV2Config config_;
  DebertaEmbeddings embeddings_;
  std::deque<DebertaV2Layer> layers_;
  const Parameter *relative_ = nullptr, *convolution_weight_ = nullptr, *convolution_bias_ = nullptr;
  std::optional<LayerNorm> relative_norm_, convolution_norm_;
};

}  // namespace headlight
