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
#include "headlight/nn/context.h"
#include "headlight/nn/parameters.h"

namespace headlight {

// [1]: `scale` times the sum of the losses of a part's labels, or of the part where its loss is no sum. What a part is,
// its task knows.
using PartLoss = std::function<Tensor(Context& context, const std::any& part, double scale)>;

// The sum of the gradients of a step's parts, in a binary tree that depends on their number alone: node i of a level is
// the sum of nodes 2i and 2i + 1 of the level below, whose nodes are the parts; where there is no node 2i + 1, it is
// node 2i. The sum has the same bits for any order of arrival, and where some nodes were summed elsewhere.
// In the order of their indices at most log2(parts) + 1 gradients exist at a time.
class HEADLIGHT_API GradientTree {
 public:
  explicit GradientTree(std::int64_t parts) : parts_(parts) {}

  // Adds a node's sum, a vector. Where that completes the tree, `sum` becomes the sum
  // of all parts and the result is true; else the sum is kept and `sum` becomes zeros.
  bool Add(int level, std::int64_t index, const Tensor& sum);

  // The nodes that are not yet part of a larger sum, by (level, index): another process adds them to its tree.
  const std::map<std::pair<int, std::int64_t>, Tensor>& nodes() const { return nodes_; }

 private:
  std::int64_t parts_;
  std::map<std::pair<int, std::int64_t>, Tensor> nodes_;
  std::vector<Tensor> free_;  // the memory of former nodes
};

// Brings the norm of a contiguous gradient down to `longest`.
HEADLIGHT_API void ClipNorm(const Tensor& gradient, double longest);

// Sets the model's gradients, which are zeros before, to those of the mean loss of all labels, and returns that loss: 0
// where there are no labels.
// Only one part's activations exist at a time; its dropout follows from `seed` and its index. The result has the same
// bits for any number of threads. Where `clip_part_norm` is above 0, the norm of each part's gradient, of the sum of
// its labels' losses, is first brought down to that.
HEADLIGHT_API double ComputeGradients(const Parameters& parameters, const PartLoss& loss,
                                      std::span<const std::any> parts, std::int64_t labels, std::uint64_t seed,
                                      double clip_part_norm = 0);

}  // namespace headlight
