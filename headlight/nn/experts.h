// Mixtures of experts: each token uses a few of several feed-forward networks.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"

namespace headlight {

struct ExpertsConfig {
  std::int32_t experts = 8, per_token = 2;
  bool normalized = true;            ///< if true, the weights of a token's experts sum to 1
  GatedFeedForwardConfig each = {};  ///< sizes and parameter names of each expert
  std::int64_t shared_ffn = 0;       ///< inner size of the shared expert, which all tokens use; 0: no shared expert
};

/// Computes y = sum over a token's experts of weight_e FFN_e(x) (Jiang et al., "Mixtral of Experts", 2024, section
/// 2.1), with the weights of ops::Route. With a shared expert, sigmoid(x w) FFN_shared(x) is added (Qwen2-MoE). For
/// each token, only the experts that it is routed to are computed. The bits of a token's result do not depend on the
/// other tokens.
class HEADLIGHT_API Experts {
 public:
  /// Declares gate.weight [experts, model] and the networks experts.N. With a shared expert, also declares
  /// shared_expert and shared_expert_gate.weight [1, model]. Products with both gates are exact, so that rounding does
  /// not change a token's experts.
  Experts(const Scope& scope, const ExpertsConfig& config);

  /// Maps [tokens, model] to the same shape. Hooks::routing receives the routing of the tokens.
  Tensor operator()(Context& context, const Tensor& x) const;

 private:
  std::int32_t per_token_;
  bool normalized_;
  const Parameter* router_;
  std::deque<GatedFeedForward> experts_;
  std::optional<GatedFeedForward> shared_;
  const Parameter* shared_gate_ = nullptr;
};

}  // namespace headlight
