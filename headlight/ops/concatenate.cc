#include "headlight/ops/concatenate.h"

#include "headlight/autograd/tape.h"

namespace headlight::ops {

Tensor Concatenate(const Tensor& a, const Tensor& b) {
  Check(a.shape().rank() == 2 && b.shape().rank() == 2 && a.columns() == b.columns() && a.dtype() == b.dtype(),
        "Concatenate: rows of {} and {} differ", ToString(a.shape()), ToString(b.shape()));
  const std::int64_t first = a.rows(), second = b.rows();
  const Tensor y = Tensor::Empty({first + second, a.columns()}, a.dtype());
  y.ViewRows(0, first).CopyFrom(a);
  y.ViewRows(first, second).CopyFrom(b);
  return Record(y, {&a, &b}, [a = a.node(), b = b.node(), first, second](const Tensor& dy) {
    Accumulate(a, dy.ViewRows(0, first));
    Accumulate(b, dy.ViewRows(first, second));
  });
}

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
