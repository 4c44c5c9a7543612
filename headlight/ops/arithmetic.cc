#include "headlight/ops/arithmetic.h"

#include <numeric>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"

namespace headlight::ops {
namespace {

void CheckSameShape(const char* operation, const Tensor& a, const Tensor& b) {
  Check(a.shape() == b.shape() && a.dtype() == b.dtype(), "{}: {} {} and {} {} differ", operation, Name(a.dtype()),
        ToString(a.shape()), Name(b.dtype()), ToString(b.shape()));
}

Tensor Product(const Tensor& a, const Tensor& b) {
  const Tensor y = Tensor::Empty(a.shape(), a.dtype());
  Dispatch(a.dtype(), [&]<typename T>(T) { kernels::MultiplyRows<T>(a.matrix<T>(), b.matrix<T>(), y.matrix<T>()); });
  return y;
}

Tensor Scaled(const Tensor& x, double factor) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) { kernels::ScaleRows<T>(x.matrix<T>(), factor, y.matrix<T>()); });
  return y;
}

}  // namespace

Tensor Add(const Tensor& a, const Tensor& b) {
  CheckSameShape("Add", a, b);
  const Tensor y = Tensor::Empty(a.shape(), a.dtype());
  Dispatch(a.dtype(), [&]<typename T>(T) { kernels::AddRows<T>(a.matrix<T>(), b.matrix<T>(), y.matrix<T>()); });
  return Record(y, {&a, &b}, [a = a.node(), b = b.node()](const Tensor& dy) {
    Accumulate(a, dy);
    Accumulate(b, dy);
  });
}

Tensor Multiply(const Tensor& a, const Tensor& b) {
  CheckSameShape("Multiply", a, b);
  return Record(Product(a, b), {&a, &b}, [a, b](const Tensor& dy) {
    if (a.node() != nullptr) Accumulate(a.node(), Product(dy, b));
    if (b.node() != nullptr) Accumulate(b.node(), Product(dy, a));
  });
}

Tensor Scale(const Tensor& x, double factor) {
  return Record(Scaled(x, factor), {&x},
                [x = x.node(), factor](const Tensor& dy) { Accumulate(x, Scaled(dy, factor)); });
}

Tensor AddVector(const Tensor& x, const Tensor& vector) {
  Check(vector.shape() == Shape{x.columns()} && vector.dtype() == x.dtype(),
        "AddVector: {} {} does not fit the rows of {} {}", Name(vector.dtype()), ToString(vector.shape()),
        Name(x.dtype()), ToString(x.shape()));
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(),
           [&]<typename T>(T) { kernels::AddVectorToRows<T>(x.matrix<T>(), vector.data<T>(), y.matrix<T>()); });
  return Record(y, {&x, &vector}, [x = x.node(), vector = vector.node()](const Tensor& dy) {
    Accumulate(x, dy);
    if (vector == nullptr) return;
    Dispatch(dy.dtype(),
             [&]<typename T>(T) { kernels::AddColumnSums<T>(dy.matrix<T>(), SumSlotFor(vector).template data<T>()); });
  });
}

Tensor Sum(const Tensor& x) {
  const Tensor y = Tensor::Empty({1}, x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    const Matrix<T> rows = x.matrix<T>();
    double sum = 0;
    for (std::int64_t row = 0; row < rows.rows; ++row)
      sum = std::accumulate(rows.row(row), rows.row(row) + rows.columns, sum);
    y.data<T>()[0] = static_cast<T>(sum);
  });
  return Record(y, {&x}, [x = x.node(), shape = x.shape()](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(shape, dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) { dx.Fill(static_cast<double>(dy.data<T>()[0])); });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
