// Norms that are applied to queries and keys before the attention scores are computed.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"

namespace headlight {

struct QueryKeyNormConfig {
  std::int64_t query_columns = 0;          ///< heads * head_dim
  std::int64_t query_run = 0;              ///< number of features per norm: head_dim (Qwen3) or the whole row (OLMo 2)
  std::int64_t key_run = 0;                ///< number of features per norm of keys
  double epsilon = 1e-6, gain_offset = 0;  ///< as in RmsNorm
};

/// Applies RMS norms to queries and keys before the rotary embedding (ops::QueryKeyNorm).
class HEADLIGHT_API QueryKeyNorm {
 public:
  /// Declares q_norm.weight [query_run] and k_norm.weight [key_run].
  QueryKeyNorm(const Scope& scope, const QueryKeyNormConfig& config);

  /// Maps [tokens, query columns + key columns] to the same shape.
  Tensor operator()(Context& context, const Tensor& queries_and_keys) const;

 private:
  QueryKeyNormConfig config_;
  NormGain query_gain_, key_gain_;
};

/// A LayerNorm without bias for each head of queries and keys, with separate gains. It is applied before rotation
/// (StableLM 2 12B).
class HEADLIGHT_API HeadLayerNorms {
 public:
  /// Declares q_layernorm.norms.HEAD.weight and k_layernorm.norms.HEAD.weight, [head_dim].
  HeadLayerNorms(const Scope& scope, std::int32_t heads, std::int32_t key_heads, std::int64_t head_dim, double epsilon);

  /// Maps [tokens, (heads + key_heads) * head_dim] to the same shape.
  Tensor operator()(Context& context, const Tensor& queries_and_keys) const;

 private:
  std::int64_t head_dim_;
  double epsilon_;
  const Parameter* gains_;
};

}  // namespace headlight
