// A sum of the gradients of a step's micro-batches. The result has the same bits for any order of addition.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The type to which micro-batch gradients and partial sums are rounded (to nearest, ties to even).
/// Additions are in float32. With bfloat16, ranks send half as many bytes.
enum class GradientType { float32, bfloat16 };

/// Sums the gradients of a step's parts (micro-batches) in a binary tree that depends only on the number of parts. The
/// leaves are the parts. Node i of a level is the sum of nodes 2i and 2i + 1 of the level below, or equals node 2i if
/// there is no node 2i + 1. The sum has the same bits for any order of arrival, even if other processes summed some
/// nodes. If parts arrive in index order, at most log2(parts) + 1 gradients exist at a time.
class HEADLIGHT_API GradientTree {
 public:
  using NodeIndex = std::pair<int, std::int64_t>;  // level, index

  explicit GradientTree(std::int64_t parts, GradientType type = GradientType::float32) : parts_(parts), type_(type) {}

  /// Adds the sum of a node, which is a vector. If the tree is then complete, sets `sum` to the sum of all parts and
  /// returns true. Otherwise stores the sum, sets `sum` to zeros and returns false.
  bool Add(int level, std::int64_t index, const Tensor& sum);

  /// Adds a range of part `part`'s elements that starts at `begin`. Do not also pass these elements to Add. Sets `sum`
  /// to the range's sum at the node at which Add would have stored the whole vector, and returns this node.
  NodeIndex AddRange(std::int64_t part, const Tensor& sum, std::int64_t begin) const;

  /// Returns the nodes that are not yet part of a larger sum, by (level, index). Another process can add them to its
  /// tree.
  const std::map<NodeIndex, Tensor>& nodes() const { return nodes_; }

  /// Returns the keys of `nodes` after parts [begin, end) were added to an empty tree of `parts` parts.
  static std::vector<NodeIndex> NodesOf(std::int64_t parts, std::int64_t begin, std::int64_t end);

 private:
  std::int64_t parts_;
  GradientType type_;
  std::map<NodeIndex, Tensor> nodes_;
  std::vector<Tensor> free_;  // buffers of freed nodes
};

}  // namespace headlight
