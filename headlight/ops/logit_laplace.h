// The loss of pixels under a logit-Laplace distribution (Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021,
// appendix A.3).
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times the sum over all pixels and channels of the negative logarithm of
//   f(x | mu, b) = exp(-|logit(x) - mu| / b) / (2 b x (1 - x))    (equation 2)
// where x are the targets [pixels, channels], above 0 and below 1, which have no gradient, and `parameters` [pixels, 2
// * channels] has mu of each channel, then ln b of each. Throws Error where shapes do not fit or a target is not
// between 0 and 1.
HEADLIGHT_API Tensor LogitLaplace(const Tensor& parameters, const Tensor& targets, double scale);

}  // namespace headlight::ops
