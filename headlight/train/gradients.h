// The gradient of a step, from those of its parts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/nn/context.h"
#include "headlight/nn/parameters.h"
#include "headlight/train/gradient_tree.h"
#include "headlight/train/training_part.h"

namespace headlight {

// [1]: `scale` times the sum of the losses of a part's labels, or of the part where its loss is no sum.
using PartLoss = std::function<Tensor(Context& context, const TrainingPart& part, double scale)>;

// Brings the norm of a contiguous gradient down to `longest`.
HEADLIGHT_API void ClipNorm(const Tensor& gradient, double longest);

struct StepOptions {
  std::int64_t labels = 0;  // the loss is the mean over so many
  std::uint64_t seed = 0;   // of dropout
  double clip_part_norm =
      0;  // where above 0, the norm of the gradient of the sum of a part's losses is brought to this
  GradientType type = GradientType::float32;
  // The parts are divided among these; null: there is but one.
  Ranks* ranks = nullptr;
  bool own_pieces = false;  // each rank sets the gradients of its pieces (train/rank_sum.h) alone
  // float64, what a part's loss adds to besides: then the sum over all parts. May be empty.
  Tensor sums = {};
};

// Sets the model's gradients, which are zeros before, to those of the mean loss of all labels, and returns that loss: 0
// where there are no labels. Running averages (TrainingPass::statistics) follow the parts in their order.
// Only one part's activations exist at a time; its dropout follows from the seed and its index. The result has the same
// bits for any number of threads and ranks.
HEADLIGHT_API double ComputeGradients(const Parameters& parameters, const PartLoss& loss,
                                      std::span<const TrainingPart> parts, const StepOptions& options);

}  // namespace headlight
