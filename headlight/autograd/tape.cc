#include "headlight/autograd/tape.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "headlight/base/parallel.h"

namespace headlight {
namespace {

void AddInPlace(const Tensor& sum, const Tensor& part) {
  Dispatch(sum.dtype(), [&]<typename T>(T) {
    const Matrix<T> to = sum.matrix<T>(), from = part.matrix<T>();
    constexpr std::int64_t block = 64;  // number of rows
    ParallelFor((to.rows + block - 1) / block, [&](std::int64_t index) {
      for (std::int64_t row = index * block; row < std::min(to.rows, (index + 1) * block); ++row) {
        T* __restrict a = to.row(row);
        const T* __restrict b = from.row(row);
        for (std::int64_t column = 0; column < to.columns; ++column) a[column] += b[column];
      }
    });
  });
}

const void* AddressOf(const Tensor& tensor) {
  const void* address = nullptr;
  Dispatch(tensor.dtype(), [&]<typename T>(T) { address = tensor.data<T>(); });
  return address;
}

// Returns the columns of the gradient `whole` that the view's gradient `own` shares. Returns nothing if `own` is not a
// view of columns.
std::optional<Node::GivenColumns> ColumnsOf(const Tensor& own, const Tensor& whole, const Node& view) {
  if (own.elements() == whole.elements()) return Node::GivenColumns{0, whole.columns(), &view};
  if (own.rows() != whole.rows() || own.stride() != whole.stride()) return std::nullopt;
  std::int64_t begin = 0;
  Dispatch(whole.dtype(), [&]<typename T>(T) { begin = own.data<T>() - whole.data<T>(); });
  return Node::GivenColumns{begin, begin + own.columns(), &view};
}

// Zeroes the columns of a gradient that no slot of a view overwrites.
void FillRest(Node& node) {
  std::ranges::sort(node.given, {}, &Node::GivenColumns::begin);
  std::int64_t begin = 0;
  for (const Node::GivenColumns& given : node.given) {
    if (begin < given.begin) node.gradient.ViewColumns(begin, given.begin - begin).Fill(0);
    begin = given.end;
  }
  if (begin < node.gradient.columns()) node.gradient.ViewColumns(begin, node.gradient.columns() - begin).Fill(0);
  node.given.clear();
}

// Returns the slot of a view if no gradient has been added to its columns yet.
std::optional<Tensor> UntouchedColumns(Node& view) {
  Node& whole = *view.viewed;
  if (whole.viewed != nullptr || !whole.backward || (!whole.gradient.empty() && whole.given.empty()))
    return std::nullopt;
  if (whole.gradient.empty()) whole.gradient = Tensor::Empty(whole.shape, whole.dtype);
  whole.exclusive = true;
  const Tensor own = view.view(whole.gradient);
  const std::optional<Node::GivenColumns> columns = ColumnsOf(own, whole.gradient, view);
  const bool untouched = columns && std::ranges::none_of(whole.given, [&](const Node::GivenColumns& given) {
                           return given.begin < columns->end && columns->begin < given.end;
                         });
  if (!untouched && whole.given.empty()) whole.gradient.Fill(0);
  if (!untouched) return std::nullopt;
  whole.given.push_back(*columns);
  view.overwritten = true;
  return own;
}

}  // namespace

Node* Tape::Add(const Tensor& value) {
  Node& node = nodes_.emplace_back();
  node.tape = this;
  node.shape = value.shape();
  node.dtype = value.dtype();
  return &node;
}

Tensor Tape::Watch(const Tensor& value, const Tensor& gradient) {
  Node* node = Add(value);
  node->gradient = gradient.Detached();
  return value.WithNode(node);
}

void Tape::Backward(const Tensor& loss, const std::function<void(const Tensor& gradient)>& complete) {
  Check(loss.node() != nullptr && loss.node()->tape == this, "Backward: the loss was not recorded on this tape");
  Check(loss.elements() == 1, "Backward: the loss must be one number, not shape {}", ToString(loss.shape()));
  Tensor one = Tensor::Empty(loss.shape(), loss.dtype());
  one.Fill(1);
  Accumulate(loss.node(), one);
  std::map<const void*, const Node*> first;  // gradient passed to Watch -> its first leaf
  const Node* again = nullptr;               // the first leaf that was watched without a gradient
  for (const Node& node : nodes_) {
    if (!complete || node.backward || node.viewed != nullptr) continue;
    if (!node.gradient.empty())
      first.try_emplace(AddressOf(node.gradient), &node);
    else if (again == nullptr)
      again = &node;
  }
  std::vector<Tensor> passed;  // gradients that may not be final yet
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (complete && !node->backward && node->viewed == nullptr) {
      const auto found = node->gradient.empty() ? first.end() : first.find(AddressOf(node->gradient));
      if (found != first.end() && found->second == &*node) passed.push_back(node->gradient);
      if (&*node == again) again = nullptr;
      if (again == nullptr)
        for (const Tensor& gradient : std::exchange(passed, {})) complete(gradient);
    }
    if (!node->backward) continue;
    if (!node->given.empty()) FillRest(*node);
    if (!node->gradient.empty()) node->backward(node->gradient);
    node->backward = nullptr;  // releases saved tensors
    node->gradient = {};
  }
}

Tensor Tape::GradientOf(const Tensor& leaf) const {
  Check(leaf.node() != nullptr && leaf.node()->tape == this, "GradientOf: the tensor is not a leaf of this tape");
  return leaf.node()->gradient.empty() ? Tensor::Zeros(leaf.shape(), leaf.dtype()) : leaf.node()->gradient;
}

bool RequiresGradient(std::initializer_list<const Tensor*> inputs) {
  return std::ranges::any_of(inputs, [](const Tensor* input) { return input != nullptr && input->node() != nullptr; });
}

Tensor Record(const Tensor& output, std::initializer_list<const Tensor*> inputs,
              std::function<void(const Tensor&)> backward) {
  Tape* tape = nullptr;
  for (const Tensor* input : inputs) {
    if (input == nullptr || input->node() == nullptr) continue;
    Check(tape == nullptr || tape == input->node()->tape, "an operation's inputs are on two tapes");
    tape = input->node()->tape;
  }
  if (tape == nullptr) return output.Detached();
  Node* node = tape->Add(output);
  node->backward = std::move(backward);
  return output.WithNode(node);
}

Tensor RecordView(const Tensor& view, const Tensor& x, std::function<Tensor(const Tensor&)> same_view) {
  if (x.node() == nullptr) return view.Detached();
  Node* node = x.node()->tape->Add(view);
  node->viewed = x.node();
  node->view = std::move(same_view);
  return view.WithNode(node);
}

GradientSlot SlotFor(Node* node) {
  if (node->viewed != nullptr) {
    if (const std::optional<Tensor> own = UntouchedColumns(*node)) return {*own, false};
    return {node->view(SumSlotFor(node->viewed)), true};
  }
  if (!node->given.empty()) {
    const bool open = node->gradient.SharesStorage() &&
                      std::ranges::any_of(node->given, [](const auto& given) { return given.view->overwritten; });
    Ensure(!open, "two slots of one gradient are open, one overwrites");
    FillRest(*node);
  }
  if (node->gradient.empty()) {
    node->gradient = Tensor::Empty(node->shape, node->dtype);
    node->exclusive = node->overwritten = true;
    return {node->gradient, false};
  }
  Ensure(!node->overwritten || !node->gradient.SharesStorage(), "two slots of one gradient are open, one overwrites");
  node->overwritten = false;
  // Another node may share the tensor. The gradient of a leaf belongs to the caller and is never replaced.
  if (node->backward && !node->exclusive && node->gradient.SharesStorage()) node->gradient = node->gradient.Clone();
  node->exclusive = true;
  return {node->gradient, true};
}

Tensor SumSlotFor(Node* node) {
  const GradientSlot slot = SlotFor(node);
  if (!slot.accumulate) slot.tensor.Fill(0);
  node->overwritten = false;
  return slot.tensor;
}

void Accumulate(Node* node, const Tensor& gradient) {
  if (node == nullptr) return;
  Ensure(gradient.shape() == node->shape && gradient.dtype() == node->dtype,
         "a gradient of shape {} does not fit a value of shape {}", ToString(gradient.shape()), ToString(node->shape));
  if (node->viewed == nullptr && node->gradient.empty()) {
    node->gradient = node->backward ? gradient.Detached() : gradient.Clone();  // shared until another gradient is added
    return;
  }
  const GradientSlot slot = SlotFor(node);
  if (slot.accumulate)
    AddInPlace(slot.tensor, gradient);
  else
    slot.tensor.CopyFrom(gradient);
  node->overwritten = false;
}

}  // namespace headlight
