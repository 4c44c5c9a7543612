// The sum of the gradients of a step's parts, with the same bits in whichever order and wherever they are added.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

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

}  // namespace headlight
