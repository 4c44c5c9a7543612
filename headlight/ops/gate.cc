#include "headlight/ops/gate.h"

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/gate.h"

namespace headlight::ops {
namespace {

// Returns `rows` rows of `x` for repetition `index`. If x has only `rows` rows, returns the same rows for every
// repetition.
template <typename T>
Matrix<T> RowsAt(const Tensor& x, std::int64_t rows, std::int64_t index) {
  return x.matrix<T>().Rows(x.rows() == rows ? 0 : index * rows, rows);
}

}  // namespace

Tensor Gate(const Tensor& x, const Tensor& gate) {
  Check(x.columns() == gate.columns() && x.rows() >= 1 && gate.rows() % x.rows() == 0 && x.dtype() == gate.dtype(),
        "Gate: a gate of shape {} does not fit x of shape {}", ToString(gate.shape()), ToString(x.shape()));
  const std::int64_t rows = x.rows(), times = gate.rows() / rows;
  const Tensor y = Tensor::Empty(gate.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    for (std::int64_t i = 0; i < times; ++i)
      kernels::GateRows<T>(x.matrix<T>(), RowsAt<T>(gate, rows, i), RowsAt<T>(y, rows, i));
  });
  return Record(y, {&x, &gate}, [x, gate, rows, times](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(gate.shape(), dy.dtype()), d_gate = Tensor::Empty(gate.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      for (std::int64_t i = 0; i < times; ++i)
        kernels::GateRowsGradient<T>(x.matrix<T>(), RowsAt<T>(gate, rows, i), RowsAt<T>(dy, rows, i),
                                     RowsAt<T>(dx, rows, i), RowsAt<T>(d_gate, rows, i));
      for (std::int64_t i = 1; i < times; ++i)
        kernels::AddRows<T>(RowsAt<T>(dx, rows, 0), RowsAt<T>(dx, rows, i), RowsAt<T>(dx, rows, 0));
    });
    Accumulate(x.node(),
               times == 1 ? dx : dx.ViewAs({gate.rows(), gate.columns()}).ViewRows(0, rows).ViewAs(x.shape()));
    Accumulate(gate.node(), d_gate);
  });
}

}  // namespace headlight::ops
