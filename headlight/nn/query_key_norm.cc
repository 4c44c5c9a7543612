#include "headlight/nn/query_key_norm.h"

#include <fmt/format.h>

#include "headlight/ops/head_layer_norm.h"
#include "headlight/ops/query_key_norm.h"

namespace headlight {

QueryKeyNorm::QueryKeyNorm(const Scope& scope, const QueryKeyNormConfig& config)
    : config_(config),
      query_gain_(scope / "q_norm", config.query_run, config.gain_offset),
      key_gain_(scope / "k_norm", config.key_run, config.gain_offset) {}

Tensor QueryKeyNorm::operator()(Context& context, const Tensor& queries_and_keys) const {
  return ops::QueryKeyNorm(queries_and_keys, config_.query_columns, query_gain_(context), key_gain_(context),
                           config_.epsilon);
}

HeadLayerNorms::HeadLayerNorms(const Scope& scope, std::int32_t heads, std::int32_t key_heads, std::int64_t head_dim,
                               double epsilon)
    : head_dim_(head_dim), epsilon_(epsilon) {
  std::vector<std::string> names;
  for (std::int32_t head = 0; head < heads; ++head) names.push_back(fmt::format("q_layernorm.norms.{}.weight", head));
  for (std::int32_t head = 0; head < key_heads; ++head)
    names.push_back(fmt::format("k_layernorm.norms.{}.weight", head));
  Parameter& gains = scope.DeclareVector(names, (heads + key_heads) * head_dim);
  gains.initialization = Initialization::Constant(1);
  gains_ = &gains;
}

Tensor HeadLayerNorms::operator()(Context& context, const Tensor& queries_and_keys) const {
  return ops::HeadLayerNorm(queries_and_keys, context.Use(*gains_), head_dim_, epsilon_);
}

}  // namespace headlight
