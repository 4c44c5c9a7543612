// The head of self-distillation (Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", 2021,
// section 3.1 and appendix C), which is discarded after the training.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/parameters.h"

namespace headlight {

struct DistillationHeadConfig {
  std::int64_t hidden = 2048, bottleneck = 256;
  std::int64_t prototypes = 65536;  // the numbers of its output
};

// Three linear layers with GELU between them, the unit vector of what they give, and its cosine to each of the
// prototypes: the weight-normed last layer of the paper with its norms fixed at 1.
class HEADLIGHT_API DistillationHead {
 public:
  // Declares its parameters among the model's, whose states have `inputs` numbers. They are not saved with it.
  DistillationHead(Parameters& parameters, std::int64_t inputs, const DistillationHeadConfig& config);

  // states [rows, inputs] to [rows, prototypes]. Unless `prototypes_learn`, the prototypes get no gradient.
  Tensor operator()(Context& context, const Tensor& states, bool prototypes_learn = true) const;

 private:
  std::vector<Linear> layers_;
  const Parameter* prototypes_;
};

}  // namespace headlight
