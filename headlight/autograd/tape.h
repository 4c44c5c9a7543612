// The tape: the operations in the order they were computed, for reverse-mode differentiation.
//
// An operation computes its value and, where an input has a node, records how gradients flow back:
//
//   Tensor Scale(const Tensor& x, double factor) {
//     Tensor y = ...;
//     return Record(y, {&x}, [x = x.node(), factor](const Tensor& dy) { Accumulate(x, ... dy * factor ...); });
//   }
//
// Its closure keeps only what the gradient needs: x.node() where x's values are not used, x.Detached() where they are.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

class Tape;

// A value on the tape. Operations handle nodes only through the functions below.
struct Node {
  Tape* tape = nullptr;
  Shape shape;
  DType dtype = DType::float32;
  std::function<void(const Tensor& gradient)> backward;  // empty: a leaf or a view
  Tensor gradient;                                       // empty until the first part of it arrives
  bool exclusive = false;    // whether `gradient` is this node's alone, so that what shares it are its own open slots
  bool overwritten = false;  // whether the last slot was one that overwrites
  Node* viewed = nullptr;    // set where this is a view of `viewed`
  std::function<Tensor(const Tensor&)> view;  // from the gradient of `viewed` to this one's
  // The columns of `gradient` that slots of views overwrite, as long as the others hold nothing yet.
  struct GivenColumns {
    std::int64_t begin, end;
    const Node* view;
  };
  std::vector<GivenColumns> given;
};

class HEADLIGHT_API Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // `value` as a leaf: its gradient is added to `gradient` (same shape, the caller's to zero), or, without one, kept in
  // the tape for GradientOf.
  Tensor Watch(const Tensor& value, const Tensor& gradient = {});

  // Propagates a gradient of 1 from the scalar `loss` to every leaf. Saved values are released on the way: a tape is
  // walked once. `complete`, which may be empty, is called with each gradient that the caller gave to Watch, once
  // nothing more is added to it, while the walk goes on. A leaf without such a gradient may stand for parts that are
  // computed again with leaves of their own: nothing is complete before the walk has passed the first of these.
  void Backward(const Tensor& loss, const std::function<void(const Tensor& gradient)>& complete = {});

  // The gradient of a leaf after Backward; zeros where none arrived.
  Tensor GradientOf(const Tensor& leaf) const;

  void Clear() { nodes_.clear(); }

 private:
  friend HEADLIGHT_API Tensor Record(const Tensor&, std::initializer_list<const Tensor*>,
                                     std::function<void(const Tensor&)>);
  friend HEADLIGHT_API Tensor RecordView(const Tensor&, const Tensor&, std::function<Tensor(const Tensor&)>);
  Node* Add(const Tensor& value);

  std::deque<Node> nodes_;  // a node comes after those it was computed from
};

// True where any of these needs a gradient; null pointers and empty tensors do not.
HEADLIGHT_API bool WantsGradient(std::initializer_list<const Tensor*> inputs);

// `output` on the tape of its inputs, or as it is where none of them wants a gradient. `backward` gets the gradient of
// the output, of the output's shape, possibly a view. Throws Error where the inputs are on different tapes.
HEADLIGHT_API Tensor Record(const Tensor& output, std::initializer_list<const Tensor*> inputs,
                            std::function<void(const Tensor& gradient)> backward);

// `view`, made of x's elements, on x's tape: its gradient is the same view of x's gradient, never a copy.
HEADLIGHT_API Tensor RecordView(const Tensor& view, const Tensor& x,
                                std::function<Tensor(const Tensor& gradient)> same_view);

// Adds `gradient` to what the node (null: nothing happens) has received so far; takes it over where it is the first.
HEADLIGHT_API void Accumulate(Node* node, const Tensor& gradient);

// Where a kernel that can add to its output writes a gradient directly: adds if `accumulate`, else overwrites. Slots of
// several views of one node may be open (not yet destroyed) at once; a second one of a node whose open slot overwrites
// is an error, since it would depend on which is written first. A slot's tensor is not passed to Accumulate.
struct GradientSlot {
  Tensor tensor;
  bool accumulate = false;
};
HEADLIGHT_API GradientSlot SlotFor(Node* node);  // node not null

// The same for a kernel that always adds: zeros where nothing has arrived yet.
HEADLIGHT_API Tensor SumSlotFor(Node* node);

}  // namespace headlight
