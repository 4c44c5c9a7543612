// The sum of the gradients of a step's micro-batches, with bits that do not depend on the order of addition.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The type that a micro-batch's gradient and every partial sum is rounded to (to nearest, ties to even). They are
/// added as float32. bfloat16 halves the bytes that ranks send.
enum class GradientType { float32, bfloat16 };

/// The sum of the gradients of a step's parts (micro-batches), in a binary tree that depends only on their number. The
/// leaves are the parts. Node i of a level is the sum of nodes 2i and 2i + 1 of the level below, or equal to node 2i if
/// there is no node 2i + 1. The sum has the same bits for any order of arrival, also if other processes summed some
/// nodes. If parts arrive in index order, at most log2(parts) + 1 gradients exist at a time.
class HEADLIGHT_API GradientTree {
 public:
  using NodeIndex = std::pair<int, std::int64_t>;  // level, index

  explicit GradientTree(std::int64_t parts, GradientType type = GradientType::float32) : parts_(parts), type_(type) {}

  /// Adds the sum of a node, a vector. If that completes the tree, `sum` becomes the sum of all parts and the result is
  /// true. Otherwise the sum is kept and `sum` is set to zeros.
  bool Add(int level, std::int64_t index, const Tensor& sum);

  /// Like Add, for a range of elements of part `part` that starts at `begin`. They must not be passed to Add, too.
  /// Sets `sum` to the range's sum at the node where Add would have stored the whole vector. Returns that node.
  NodeIndex AddRange(std::int64_t part, const Tensor& sum, std::int64_t begin) const;

  /// The nodes that are not yet part of a larger sum, by (level, index). Another process adds them to its tree.
  const std::map<NodeIndex, Tensor>& nodes() const { return nodes_; }

  /// The keys of `nodes` after parts [begin, end) were added to an empty tree of `parts` parts.
  static std::vector<NodeIndex> NodesOf(std::int64_t parts, std::int64_t begin, std::int64_t end);

 private:
  std::int64_t parts_;
  GradientType type_;
  std::map<NodeIndex, Tensor> nodes_;
  std::vector<Tensor> free_;  // buffers of former nodes, to be reused
};

}  // namespace headlight
