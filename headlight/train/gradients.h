// Computes the gradient of a step, accumulated over its micro-batches ("parts").
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

/// Returns the loss of a part, [1]: `scale` times the sum of the losses of its labels. If the part's loss is not a sum
/// over labels, returns `scale` times the part's loss.
using PartLoss = std::function<Tensor(Context& context, const TrainingPart& part, double scale)>;

/// Scales a contiguous gradient so that its norm is at most `longest`.
HEADLIGHT_API void ClipNorm(const Tensor& gradient, double longest);

struct StepOptions {
  std::int64_t labels = 0;    // number of labels over which the loss is averaged
  std::uint64_t seed = 0;     // seed of dropout
  double clip_part_norm = 0;  // if positive, upper limit of the gradient norm of each part's summed losses
  GradientType type = GradientType::float32;
  /// The ranks that divide the parts; null for a single process.
  Ranks* ranks = nullptr;
  bool own_pieces = false;  // if true, each rank sets only the gradients of the pieces that it owns (train/rank_sum.h)
  /// A float64 accumulator that the loss function may add to, for example for statistics. After ComputeGradients, it
  /// contains the sum over all parts. May be empty.
  Tensor sums = {};
};

/// Sets the model's gradients, which must be zeros, to the gradients of the mean loss over all labels. Returns the mean
/// loss, or 0 if there are no labels. Running averages (TrainingPass::statistics) are updated in the order of the
/// parts. The activations of only one part exist at a time. The dropout of a part depends on the seed and the part's
/// index. The result has the same bits for any number of threads and ranks.
HEADLIGHT_API double ComputeGradients(const Parameters& parameters, const PartLoss& loss,
                                      std::span<const TrainingPart> parts, const StepOptions& options);

}  // namespace headlight
