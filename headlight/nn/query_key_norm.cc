#include "headlight/nn/query_key_norm.h"

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

}  // namespace headlight
