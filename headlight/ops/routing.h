// The experts of each token (Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts
// Layer", 2017).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Which experts each token has, and with which weights.
struct Routing {
  Tensor probabilities;               // [tokens, experts], the softmax of the router's logits
  std::vector<std::int32_t> experts;  // [tokens * per_token], the most probable first
  Tensor weights;                     // [tokens, per_token], in the same order
};

/// Routes each token to its `per_token` most probable experts; if some are equal, the lower index is first.
/// `logits` [tokens, experts]. The weights are the experts' probabilities, divided by their sum if `normalized`. Throws
/// Error unless per_token is from 1 to the number of experts.
HEADLIGHT_API Routing Route(const Tensor& logits, std::int32_t per_token, bool normalized);

/// [1]: experts * sum over e of f_e P_e (Fedus et al., "Switch Transformers", 2021, equation 4), over the tokens of all
/// layers. f_e is how many of a token's experts are e in the mean, and P_e is the mean probability of e. There is no
/// gradient through f_e. Throws Error without a layer, or if their experts differ.
HEADLIGHT_API Tensor LoadBalancingLoss(std::span<const Routing> layers);

}  // namespace headlight::ops
