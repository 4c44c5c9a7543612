// The gradient of a step, accumulated over its micro-batches ("parts").
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

/// Computes [1]: `scale` times the sum of the losses of a part's labels, or times the part's loss if that is not a sum.
using PartLoss = std::function<Tensor(Context& context, const TrainingPart& part, double scale)>;

/// Scales a contiguous gradient so that its norm is at most `longest`.
HEADLIGHT_API void ClipNorm(const Tensor& gradient, double longest);

struct StepOptions {
  std::int64_t labels = 0;    // the loss is the mean over this many labels
  std::uint64_t seed = 0;     // for dropout
  double clip_part_norm = 0;  // if positive, the gradient of each part's summed losses is clipped to this norm
  GradientType type = GradientType::float32;
  /// The ranks that divide the parts; null: a single process.
  Ranks* ranks = nullptr;
  bool own_pieces = false;  // each rank sets only the gradients of its own pieces (train/rank_sum.h)
  /// float64, accumulates other sums that a part's loss computes; afterwards the sum over all parts. May be empty.
  Tensor sums = {};
};

/// Sets the model's gradients, which must be zeros, to those of the mean loss of all labels. Returns that loss, or 0 if
/// there are no labels. Running averages (TrainingPass::statistics) are updated in the order of the parts. The
/// activations of only one part exist at a time; its dropout depends on the seed and its index. The result has the same
/// bits for any number of threads and ranks.
HEADLIGHT_API double ComputeGradients(const Parameters& parameters, const PartLoss& loss,
                                      std::span<const TrainingPart> parts, const StepOptions& options);

}  // namespace headlight
