// The negative log-likelihood of pixels under a logit-Laplace distribution (Ramesh et al., "Zero-Shot Text-to-Image
// Generation", 2021, appendix A.3).
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times the sum over pixels and channels of -ln f(x | mu, b), of shape [1], with
///   f(x | mu, b) = exp(-|logit(x) - mu| / b) / (2 b x (1 - x))    (equation 2).
/// The targets x [pixels, channels] are in (0, 1) and have no gradient. `parameters` [pixels, 2 * channels] has mu of
/// each channel, then ln b of each channel. Throws Error if shapes do not fit or a target is out of range.
HEADLIGHT_API Tensor LogitLaplace(const Tensor& parameters, const Tensor& targets, double scale);

}  // namespace headlight::ops
