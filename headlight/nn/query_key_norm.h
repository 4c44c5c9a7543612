// Norms of queries and keys before their scores.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/nn/context.h"
#include "headlight/nn/parameters.h"

namespace headlight {

/// An RMS norm of each head of the queries and of the keys (ops::QueryKeyNorm), before they are rotated.
class HEADLIGHT_API QueryKeyNorm {
 public:
  /// Declares q_norm.weight and k_norm.weight (the gains, 1), both [head_dim].
  QueryKeyNorm(const Scope& scope, std::int32_t heads, std::int64_t head_dim, double epsilon);

  /// [tokens, (heads + key heads) * head_dim], the queries and then the keys, to the same.
  Tensor operator()(Context& context, const Tensor& queries_and_keys) const;

 private:
  std::int64_t query_columns_;
  const Parameter *query_gain_, *key_gain_;
  double epsilon_;
};

}  // namespace headlight
