// Adam and AdamW over all parameters of a model.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/nn/parameters.h"

namespace headlight {

// The paper's (section 5.3) unless told otherwise. With weight decay it is AdamW.
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  double weight_decay = 0;
  double clip_norm = 0;      // the gradient's norm is brought down to this; 0: as it is
  double average_decay = 0;  // of the moving average of the values; 0: none is kept
};

// All vectors have a number for every trained one, in the order of Parameters::values.
struct HEADLIGHT_API Optimizer {
  Optimizer(const AdamOptions& options, const Parameters& parameters);

  // Moves the parameters against their gradients and sets those to zero; the gradient's norm before it was clipped.
  // Throws Error where that is not finite: then nothing has been changed.
  double Step(Parameters& parameters, double learning_rate);

  AdamOptions options;
  std::int64_t step = 0;  // steps taken
  Tensor m, v;
  Tensor average;  // empty without average_decay
};

}  // namespace headlight
