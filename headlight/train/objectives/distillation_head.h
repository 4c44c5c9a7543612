// The projection head of self-distillation (Caron et al., "Emerging Properties in Self-Supervised Vision Transformers",
// 2021, section 3.1 and appendix C). It is discarded after training.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/parameters.h"

namespace headlight {

struct DistillationHeadConfig {
  std::int64_t hidden = 2048, bottleneck = 256;
  std::int64_t prototypes = 65536;  // number of prototypes, i.e. the output size
};

/// Three linear layers with GELU between them, L2 normalization, and the cosine similarity to each prototype. The
/// cosines equal the output of the paper's weight-normalized last layer with its norms fixed at 1.
class HEADLIGHT_API DistillationHead {
 public:
  /// Declares the head's parameters in the model's `parameters`. `inputs` is the size of the model's states. The head
  /// is not saved.
  DistillationHead(Parameters& parameters, std::int64_t inputs, const DistillationHeadConfig& config);

  /// Maps states [rows, inputs] to [rows, prototypes]. The prototypes get a gradient only if `prototypes_learn` is set.
  Tensor operator()(Context& context, const Tensor& states, bool prototypes_learn = true) const;

 private:
  std::vector<Linear> layers_;
  const Parameter* prototypes_;
};

}  // namespace headlight
