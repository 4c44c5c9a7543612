#include "headlight/nn/recomputed.h"

#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"

namespace headlight {
namespace {

// The context of a part, with a random stream of its own.
Context ContextOf(const Context& begun, std::int64_t part, Tape* tape) {
  Context own = begun;
  own.tape = tape;
  own.seed = MixBits(begun.seed + MixBits(static_cast<std::uint64_t>(part) + 1));
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
  context.NextDropout(0);   // so that another call has other random numbers
  Context begun = context;  // of which every part begins
  begun.tape = nullptr;
  begun.sink = {};
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
  // The inputs of the parts are not on this tape. A leaf without a gradient makes Record put the rows on it.
  const Tensor leaf = context.tape->Watch(Tensor::Zeros({1}, all.dtype()));
  return Record(all, {&leaf}, [begun, parts, compute_part](const Tensor& gradient) {
    std::int64_t row = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      Tape tape;
      Context own = ContextOf(begun, part, &tape);
      const Tensor again = compute_part(own, part);
      // The sum of rows times what comes back for them has the rows' gradient.
      const Tensor incoming = gradient.ViewRows(row, again.rows()).Clone();
      tape.Backward(ops::Sum(ops::Multiply(again, incoming)));
      row += again.rows();
    }
  });
}

}  // namespace headlight
