// The gradient of a step, from those of its parts.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/nn/context.h"
#include "headlight/nn/parameters.h"

namespace headlight {

// [1]: `scale` times the sum of the losses of a part's labels, or of the part where its loss is no sum. What a part is,
// its task knows.
using PartLoss = std::function<Tensor(Context& context, const std::any& part, double scale)>;

// What a part may be instead: what makes it, called where it is computed. For parts that take time to make, as images
// do that are decoded and augmented. Called from any thread; the same each time.
using MakePart = std::function<std::any()>;
HEADLIGHT_API std::any Made(std::any part);  // the part itself

// The type that a part's gradient, and every sum of some of them, is rounded to (to nearest, ties to even). They are
// added as float32. bfloat16 halves what ranks send each other.
enum class GradientType { float32, bfloat16 };

// The sum of the gradients of a step's parts, in a binary tree that depends on their number alone: node i of a level is
// the sum of nodes 2i and 2i + 1 of the level below, whose nodes are the parts; where there is no node 2i + 1, it is
// node 2i. The sum has the same bits for any order of arrival, and where some nodes were summed elsewhere.
// In the order of their indices at most log2(parts) + 1 gradients exist at a time.
class HEADLIGHT_API GradientTree {
 public:
  using Place = std::pair<int, std::int64_t>;  // level, index

  explicit GradientTree(std::int64_t parts, GradientType type = GradientType::float32) : parts_(parts), type_(type) {}

  // Adds a node's sum, a vector. Where that completes the tree, `sum` becomes the sum
  // of all parts and the result is true; else the sum is kept and `sum` becomes zeros.
  bool Add(int level, std::int64_t index, const Tensor& sum);

  // The same of a part's numbers from `begin` on, in the place of those of all its numbers, which are never added:
  // `sum` becomes the sum of this range at the place that Add would have kept, which is returned.
  Place AddRange(std::int64_t part, const Tensor& sum, std::int64_t begin) const;

  // The nodes that are not yet part of a larger sum, by (level, index): another process adds them to its tree.
  const std::map<Place, Tensor>& nodes() const { return nodes_; }

  // The keys of `nodes` after the parts from `begin` to before `end` were added to an empty tree of `parts`.
  static std::vector<Place> PlacesOf(std::int64_t parts, std::int64_t begin, std::int64_t end);

 private:
  std::int64_t parts_;
  GradientType type_;
  std::map<Place, Tensor> nodes_;
  std::vector<Tensor> free_;  // the memory of former nodes
};

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
                                      std::span<const std::any> parts, const StepOptions& options);

}  // namespace headlight
