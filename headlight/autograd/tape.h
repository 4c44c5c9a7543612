// The tape records operations in the order of their computation, for reverse-mode differentiation.
//
// An operation computes its value and, if an input has a node, records its backward pass:
//
//   Tensor Scale(const Tensor& x, double factor) {
//     Tensor y = ...;
//     return Record(y, {&x}, [x = x.node(), factor](const Tensor& dy) { Accumulate(x, ... dy * factor ...); });
//   }
//
// The closure must save only what the gradient requires: x.Detached() if it uses the values of x, otherwise x.node().
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

class Tape;

/// A value on the tape. Operations access nodes only through the functions below.
struct Node {
  Tape* tape = nullptr;
  Shape shape;
  DType dtype = DType::float32;
  std::function<void(const Tensor& gradient)> backward;  ///< empty for a leaf or a view
  Tensor gradient;                                       ///< empty until a gradient is added
  bool exclusive = false;    ///< if true, no other node shares `gradient`, but this node's open slots may
  bool overwritten = false;  ///< if true, the kernel of the last slot overwrites `gradient`
  Node* viewed = nullptr;    ///< set if this is a view of `viewed`
  std::function<Tensor(const Tensor&)> view;  ///< returns this node's view of the gradient of `viewed`
  /// Columns of `gradient` that the slot of a view overwrites. They are recorded until the other columns are zeroed.
  struct GivenColumns {
    std::int64_t begin, end;
    const Node* view;
  };
  std::vector<GivenColumns> given;
};

/// The operations of one forward pass. A tape is not thread-safe.
class HEADLIGHT_API Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Makes `value` a leaf. Its gradient is added to `gradient`, which must have the same shape and be zeroed by the
  /// caller. If `gradient` is empty, the tape keeps the leaf's gradient for GradientOf.
  Tensor Watch(const Tensor& value, const Tensor& gradient = {});

  /// Propagates a gradient of 1 from the scalar `loss` to all leaves. Saved tensors are released during the pass, so
  /// Backward can run only once. If `complete` is not empty, it is called during the pass with each gradient passed to
  /// Watch, once this gradient is final. A leaf without such a gradient may represent recomputed operations that have
  /// separate leaves. Therefore no gradient is considered final before the pass reaches the first such leaf.
  void Backward(const Tensor& loss, const std::function<void(const Tensor& gradient)>& complete = {});

  /// Returns the gradient of a leaf after Backward, or zeros if the leaf has no gradient.
  Tensor GradientOf(const Tensor& leaf) const;

  void Clear() { nodes_.clear(); }

 private:
  friend HEADLIGHT_API Tensor Record(const Tensor&, std::initializer_list<const Tensor*>,
                                     std::function<void(const Tensor&)>);
  friend HEADLIGHT_API Tensor RecordView(const Tensor&, const Tensor&, std::function<Tensor(const Tensor&)>);
  Node* Add(const Tensor& value);

  std::deque<Node> nodes_;  // each node comes after its inputs
};

/// Returns true if any input requires a gradient. Inputs may be null or empty.
HEADLIGHT_API bool RequiresGradient(std::initializer_list<const Tensor*> inputs);

/// Returns `output` with a node on the tape of its inputs, or without a node if no input requires a gradient.
/// `backward` receives the gradient of the output, which has the same shape and may be a view. Throws Error if inputs
/// are on different tapes.
HEADLIGHT_API Tensor Record(const Tensor& output, std::initializer_list<const Tensor*> inputs,
                            std::function<void(const Tensor& gradient)> backward);

/// Records `view`, which shares the elements of x, on the tape of x, and returns it. Its gradient is the corresponding
/// view of x's gradient, without a copy.
HEADLIGHT_API Tensor RecordView(const Tensor& view, const Tensor& x,
                                std::function<Tensor(const Tensor& gradient)> same_view);

/// Adds `gradient` to the gradient of the node. Does nothing if `node` is null. The first gradient is shared instead of
/// copied.
HEADLIGHT_API void Accumulate(Node* node, const Tensor& gradient);

/// A destination for kernels that write gradients directly. A kernel must add to `tensor` if `accumulate` is true, and
/// otherwise overwrite it. Slots of several views of one node may be open (not yet destroyed) at once. A second slot of
/// a node with an open overwriting slot is an error, because the result would depend on the order of writes. A slot's
/// tensor must not be passed to Accumulate.
struct GradientSlot {
  Tensor tensor;
  bool accumulate = false;
};
HEADLIGHT_API GradientSlot SlotFor(Node* node);  ///< Returns a slot for the gradient of `node`, which must not be null.

/// Returns a slot for kernels that always add. It is filled with zeros if no gradient has been added yet.
HEADLIGHT_API Tensor SumSlotFor(Node* node);

}  // namespace headlight
