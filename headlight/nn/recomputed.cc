#include "headlight/nn/recomputed.h"

#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

// Returns the context of a chunk, which has a separate random stream.
Context ContextOf(const Context& begun, std::int64_t part, Tape* tape) {
  Context own = begun;
  own.tape = tape;
  if (own.training) own.training->seed = MixBits(begun.training->seed + MixBits(static_cast<std::uint64_t>(part) + 1));
  return own;
}

}  // namespace

Tensor Recomputed(Context& context, std::int64_t count, std::int64_t at_once,
                  const std::function<Tensor(Context& context, std::int64_t begin, std::int64_t end)>& compute) {
  Check(count >= 1 && at_once >= 1, "Recomputed: {} examples, {} at a time; both must be at least 1", count, at_once);
  const std::int64_t parts = (count - 1) / at_once + 1;
  if (parts == 1) return compute(context, 0, count);
  const auto compute_part = [count, parts, compute](Context& own, std::int64_t part) {
    return compute(own, count * part / parts, count * (part + 1) / parts);
  };
  context.NextDropout(0);   // so that a later call uses another random stream
  Context begun = context;  // the context at the start of every chunk
  begun.tape = nullptr;
  begun.hooks.attention = {};
  begun.hooks.residues = {};
  std::vector<Tensor> computed;
  std::int64_t rows = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    Context own = ContextOf(begun, part, nullptr);
    computed.push_back(compute_part(own, part));
    rows += computed.back().rows();
  }
  const Tensor all = Tensor::Empty({rows, computed.front().columns()}, computed.front().dtype());
  rows = 0;
  for (const Tensor& part : computed) {
    all.ViewRows(rows, part.rows()).CopyFrom(part);
    rows += part.rows();
  }
  if (context.tape == nullptr) return all;
  // The inputs of the chunks are not on this tape. Record requires an input, so a leaf without a gradient is added.
  const Tensor leaf = context.tape->Watch(Tensor::Zeros({1}, all.dtype()));
  return Record(all, {&leaf}, [begun, parts, compute_part](const Tensor& gradient) {
    std::int64_t row = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      Tape tape;
      Context own = ContextOf(begun, part, &tape);
      const Tensor again = compute_part(own, part);
      // Backpropagating sum(rows * incoming) is equivalent to backpropagating the incoming gradient of the rows.
      const Tensor incoming = gradient.ViewRows(row, again.rows()).Clone();
      tape.Backward(ops::Sum(ops::Multiply(again, incoming)));
      row += again.rows();
    }
  });
}

std::vector<Tensor> RecomputedBlock(
    Context& context, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(Context& context, const std::vector<Tensor>& inputs)>& compute) {
  context.NextDropout(0);
  Context begun = context;
  begun.tape = nullptr;
  begun.hooks.attention = {};
  begun.hooks.residues = {};
  std::vector<Tensor> detached;
  for (const Tensor& input : inputs) detached.push_back(input.Detached());
  Context first = ContextOf(begun, 0, nullptr);
  first.hooks.attention = context.hooks.attention;
  first.hooks.residues = context.hooks.residues;
  const std::vector<Tensor> outputs = compute(first, detached);
  if (context.tape == nullptr) return outputs;
  std::vector<Shape> shapes;
  std::int64_t elements = 0;
  for (const Tensor& output : outputs) {
    shapes.push_back(output.shape());
    elements += output.elements();
  }
  // The outputs are views of one tensor, so that all their gradients arrive together.
  const Tensor all = Tensor::Empty({1, elements}, outputs.front().dtype());
  const auto part = [](const Tensor& of, std::int64_t begin, const Shape& shape) {
    return ops::Reshape(ops::Columns(of, begin, shape.elements()), shape);
  };
  std::int64_t begin = 0;
  for (const Tensor& output : outputs) {
    part(all, begin, output.shape()).CopyFrom(output);
    begin += output.elements();
  }
  const Tensor leaf = context.tape->Watch(Tensor::Zeros({1}, all.dtype()));
  const Tensor recorded = Record(all, {&leaf}, [begun, inputs, detached, compute, part](const Tensor& gradient) {
    Tape tape;
    Context own = ContextOf(begun, 0, &tape);
    std::vector<Tensor> leaves;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      leaves.push_back(inputs[i].node() == nullptr ? detached[i] : tape.Watch(detached[i]));
    Tensor sum;
    std::int64_t index = 0;
    for (const Tensor& output : compute(own, leaves)) {
      const Tensor product = ops::Sum(ops::Multiply(output, part(gradient, index, output.shape())));
      sum = sum.empty() ? product : ops::Add(sum, product);
      index += output.elements();
    }
    tape.Backward(sum);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].node() != nullptr) Accumulate(inputs[i].node(), tape.GradientOf(leaves[i]));
  });
  std::vector<Tensor> views;
  begin = 0;
  for (const Shape& shape : shapes) {
    views.push_back(part(recorded, begin, shape));
    begin += shape.elements();
  }
  return views;
}

}  // namespace headlight
