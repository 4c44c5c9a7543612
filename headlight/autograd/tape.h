// The tape: operations in the order of their computation, for reverse-mode differentiation.
//
// An operation computes its value and, if an input has a node, records its backward pass:
//
//   Tensor Scale(const Tensor& x, double factor) {
//     Tensor y = ...;
//     return Record(y, {&x}, [x = x.node(), factor](const Tensor& dy) { Accumulate(x, ... dy * factor ...); });
//   }
//
// Its closure must save only what the gradient needs: x.node() if x's values are not used, x.Detached() if they are.
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
  std::function<void(const Tensor& gradient)> backward;  ///< empty: a leaf or a view
  Tensor gradient;                                       ///< empty until a gradient arrives
  bool exclusive = false;    ///< true if no other node aliases `gradient`; only this node's open slots may share it
  bool overwritten = false;  ///< whether the last slot overwrites
  Node* viewed = nullptr;    ///< set if this is a view of `viewed`
  std::function<Tensor(const Tensor&)> view;  ///< from the gradient of `viewed` to that of this node
  /// The columns of `gradient` that views' slots overwrite, as long as the other columns are unset.
  struct GivenColumns {
    std::int64_t begin, end;
    const Node* view;
  };
  std::vector<GivenColumns> given;
};

/// The operations of one forward pass. Not for concurrent use.
class HEADLIGHT_API Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Makes `value` a leaf. Its gradient is added to `gradient` (of the same shape, zeroed by the caller) or, if that is
  /// empty, kept in the tape for GradientOf.
  Tensor Watch(const Tensor& value, const Tensor& gradient = {});

  /// Propagates a gradient of 1 from the scalar `loss` to all leaves. Saved tensors are released during the pass, so it
  /// can run only once. During the pass, `complete`, unless empty, is called with each gradient passed to Watch once it
  /// is final. A leaf without such a gradient may represent recomputed parts with separate leaves. No gradient counts
  /// as final before the pass reaches the first such leaf.
  void Backward(const Tensor& loss, const std::function<void(const Tensor& gradient)>& complete = {});

  /// The gradient of a leaf after Backward; zeros if none arrived.
  Tensor GradientOf(const Tensor& leaf) const;

  void Clear() { nodes_.clear(); }

 private:
  friend HEADLIGHT_API Tensor Record(const Tensor&, std::initializer_list<const Tensor*>,
                                     std::function<void(const Tensor&)>);
  friend HEADLIGHT_API Tensor RecordView(const Tensor&, const Tensor&, std::function<Tensor(const Tensor&)>);
  Node* Add(const Tensor& value);

  std::deque<Node> nodes_;  // a node follows those it was computed from
};

/// True if any input needs a gradient; null pointers and empty tensors do not.
HEADLIGHT_API bool WantsGradient(std::initializer_list<const Tensor*> inputs);

/// Returns `output` with a node on the tape of its inputs, or unchanged if no input needs a gradient. `backward`
/// receives the gradient of the output, of the same shape, possibly a view. Throws Error if inputs are on different
/// tapes.
HEADLIGHT_API Tensor Record(const Tensor& output, std::initializer_list<const Tensor*> inputs,
                            std::function<void(const Tensor& gradient)> backward);

/// Returns `view`, which shares x's elements, on x's tape. Its gradient is the same view of x's gradient, without a
/// copy.
HEADLIGHT_API Tensor RecordView(const Tensor& view, const Tensor& x,
                                std::function<Tensor(const Tensor& gradient)> same_view);

/// Adds `gradient` to the gradient of the node; does nothing if it is null. The first gradient is shared instead of
/// copied.
HEADLIGHT_API void Accumulate(Node* node, const Tensor& gradient);

/// A destination for kernels that write gradients directly: they must add if `accumulate`, and otherwise overwrite.
/// Slots of several views of one node may be open (not yet destroyed) at once. A second slot of a node with an open
/// overwriting slot is an error, since the result would depend on the order of writes. Do not pass a slot's tensor to
/// Accumulate.
struct GradientSlot {
  Tensor tensor;
  bool accumulate = false;
};
HEADLIGHT_API GradientSlot SlotFor(Node* node);  // node must not be null

/// The same for kernels that always add: zeros if nothing has arrived yet.
HEADLIGHT_API Tensor SumSlotFor(Node* node);

}  // namespace headlight
