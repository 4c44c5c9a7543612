// Selects the experts of each token (Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated
// Mixture-of-Experts Layer", 2017).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// The experts that process each token, and their weights.
struct Routing {
  Tensor probabilities;               ///< [tokens, experts], the softmax of the router's logits
  std::vector<std::int32_t> experts;  ///< [tokens * per_token], the most probable first
  Tensor weights;                     ///< [tokens, per_token], in the order of `experts`
};

/// Routes each token to its `per_token` most probable experts. If experts are equally probable, the lower index comes
/// first. `logits` is [tokens, experts]. The weights are the experts' probabilities, divided by their sum if
/// `normalized` is true. Throws Error unless per_token is from 1 to the number of experts.
HEADLIGHT_API Routing Route(const Tensor& logits, std::int32_t per_token, bool normalized);

/// Returns experts * sum over e of f_e P_e (Fedus et al., "Switch Transformers", 2021, equation 4), over the tokens of
/// all layers, of shape [1]. f_e is the fraction of tokens that are routed to expert e. P_e is the mean probability of
/// e. f_e has no gradient. Throws Error if there is no layer, or if the numbers of experts differ.
HEADLIGHT_API Tensor LoadBalancingLoss(std::span<const Routing> layers);

}  // namespace headlight::ops
