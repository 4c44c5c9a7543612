#include "headlight/ops/concatenate.h"

#include <array>
#include <vector>

#include "headlight/autograd/tape.h"

namespace headlight::ops {

Tensor Concatenate(std::span<const Tensor> parts) {
  Check(!parts.empty() && parts[0].shape().rank() == 2, "Concatenate: there are no rows");
  std::int64_t rows = 0;
  const Tensor* on_tape = nullptr;
  for (const Tensor& part : parts) {
    Check(part.shape().rank() == 2 && part.columns() == parts[0].columns() && part.dtype() == parts[0].dtype(),
          "Concatenate: rows of {} and {} differ", ToString(parts[0].shape()), ToString(part.shape()));
    rows += part.rows();
    if (part.node() != nullptr) on_tape = &part;
  }
  const Tensor y = Tensor::Empty({rows, parts[0].columns()}, parts[0].dtype());
  struct Part {
    Node* node;
    std::int64_t begin, rows;
  };
  std::vector<Part> placed;
  std::int64_t begin = 0;
  for (const Tensor& part : parts) {
    y.ViewRows(begin, part.rows()).CopyFrom(part);
    placed.push_back({part.node(), begin, part.rows()});
    begin += part.rows();
  }
  return Record(y, {on_tape}, [placed](const Tensor& dy) {
    for (const Part& part : placed) Accumulate(part.node, dy.ViewRows(part.begin, part.rows));
  });
}

Tensor Concatenate(const Tensor& a, const Tensor& b) { return Concatenate(std::array{a, b}); }

Tensor ConcatenateColumns(const Tensor& a, const Tensor& b) {
  Check(a.shape().rank() == 2 && b.shape().rank() == 2 && a.rows() == b.rows() && a.dtype() == b.dtype(),
        "ConcatenateColumns: columns of {} and {} differ", ToString(a.shape()), ToString(b.shape()));
  const std::int64_t first = a.columns(), second = b.columns();
  const Tensor y = Tensor::Empty({a.rows(), first + second}, a.dtype());
  y.ViewColumns(0, first).CopyFrom(a);
  y.ViewColumns(first, second).CopyFrom(b);
  return Record(y, {&a, &b}, [a = a.node(), b = b.node(), first, second](const Tensor& dy) {
    Accumulate(a, dy.ViewColumns(0, first).Clone());
    Accumulate(b, dy.ViewColumns(first, second).Clone());
  });
}

}  // namespace headlight::ops
