#include "headlight/nn/query_key_norm.h"

#include "headlight/ops/query_key_norm.h"

namespace headlight {

QueryKeyNorm::QueryKeyNorm(const Scope& scope, std::int32_t heads, std::int64_t head_dim, double epsilon)
    : query_columns_(heads * head_dim),
      query_gain_(&(scope / "q_norm").Declare("weight", {head_dim}, Initialisation::Constant(1))),
      key_gain_(&(scope / "k_norm").Declare("weight", {head_dim}, Initialisation::Constant(1))),
      epsilon_(epsilon) {}

Tensor QueryKeyNorm::operator()(Context& context, const Tensor& queries_and_keys) const {
  return ops::QueryKeyNorm(queries_and_keys, query_columns_, context.Use(*query_gain_), context.Use(*key_gain_),
                           epsilon_);
}

}  // namespace headlight
