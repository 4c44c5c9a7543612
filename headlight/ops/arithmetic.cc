#include "headlight/ops/arithmetic.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"

namespace headlight::ops {
namespace {

// One axis of an elementwise operation: its size, and the stride of each operand. The stride is 0 if the operand is
// repeated.
struct Axis {
  std::int64_t size = 1;
  std::array<std::int64_t, 3> steps{};
};
using Axes = std::vector<Axis>;

// Returns the axes of `shape` for three operands that are broadcast to it. Adjacent axes are merged if the strides
// allow it.
Axes AxesOf(const Shape& shape, const std::array<const Tensor*, 3>& operands) {
  Axes axes;
  for (int axis = 0; axis < std::max(1, shape.rank()); ++axis) {
    Axis next{axis < shape.rank() ? shape[axis] : 1, {}};
    for (std::size_t i = 0; i < 3; ++i) {
      const Shape& its = operands[i]->shape();
      const int own = axis - (shape.rank() - its.rank());
      if (own < 0 || own >= its.rank() || its[own] != next.size) continue;
      next.steps[i] = own == its.rank() - 1 ? 1 : operands[i]->stride();
      for (int inner = own + 1; inner < its.rank() - 1; ++inner) next.steps[i] *= its[inner];
    }
    const bool joins = !axes.empty() && std::ranges::equal(axes.back().steps, next.steps, {}, {},
                                                           [&](std::int64_t step) { return step * next.size; });
    if (joins)
      axes.back() = {axes.back().size * next.size, next.steps};
    else
      axes.push_back(next);
  }
  return axes;
}

// Calls body(rows, columns, offsets of the operands) for every matrix of the last two axes.
void ForMatrices(Axes axes, const auto& body) {
  const Axis columns = axes.back();
  axes.pop_back();
  const Axis rows = axes.empty() ? Axis{} : axes.back();
  if (!axes.empty()) axes.pop_back();
  std::int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  for (std::int64_t index = 0; index < count; ++index) {
    std::array<std::int64_t, 3> offsets{};
    std::int64_t rest = index;
    for (auto axis = axes.rbegin(); axis != axes.rend(); rest /= axis->size, ++axis)
      for (std::size_t i = 0; i < 3; ++i) offsets[i] += rest % axis->size * axis->steps[i];
    body(rows, columns, offsets);
  }
}

template <typename T>
Matrix<T> MatrixOf(const Tensor& x, const Axis& rows, const Axis& columns, std::int64_t offset, std::size_t operand) {
  return {x.data<T>() + offset, rows.size, columns.steps[operand] == 0 ? 1 : columns.size, rows.steps[operand]};
}

// Returns the broadcast shape of a and b: shapes are aligned at the last axis, and each axis has the larger size.
Shape BroadcastShape(const char* operation, const Tensor& a, const Tensor& b) {
  const Shape& x = a.shape();
  const Shape& y = b.shape();
  std::vector<std::int64_t> axes(static_cast<std::size_t>(std::max(x.rank(), y.rank())), 1);
  bool fit = a.dtype() == b.dtype();
  for (int back = 1; back <= std::ssize(axes); ++back) {
    const std::int64_t left = back > x.rank() ? 1 : x[x.rank() - back],
                       right = back > y.rank() ? 1 : y[y.rank() - back];
    fit = fit && (left == right || left == 1 || right == 1);
    axes[axes.size() - static_cast<std::size_t>(back)] = left == 1 ? right : left;
  }
  Check(fit, "{}: {} {} and {} {} differ, and cannot be broadcast", operation, Name(a.dtype()), ToString(x),
        Name(b.dtype()), ToString(y));
  return Shape(axes);
}

// Applies combine(a, b, y) to the matrices of the broadcast operands.
Tensor Broadcast(const char* operation, const Tensor& a, const Tensor& b, const auto& combine) {
  const Tensor y = Tensor::Empty(BroadcastShape(operation, a, b), a.dtype());
  Dispatch(a.dtype(), [&]<typename T>(T) {
    ForMatrices(AxesOf(y.shape(), {&a, &b, &y}), [&](const Axis& rows, const Axis& columns, const auto& at) {
      combine(MatrixOf<T>(a, rows, columns, at[0], 0), MatrixOf<T>(b, rows, columns, at[1], 1),
              MatrixOf<T>(y, rows, columns, at[2], 2));
    });
  });
  return y;
}

Tensor Product(const Tensor& a, const Tensor& b) {
  return Broadcast("Multiply", a, b, []<typename T>(Matrix<T> left, Matrix<T> right, Matrix<T> y) {
    kernels::MultiplyRows<T>(left, right, y);
  });
}

// Sums x over the axes along which `shape` was broadcast.
Tensor SumTo(const Shape& shape, const Tensor& x) {
  if (shape == x.shape()) return x;
  const Tensor y = Tensor::Zeros(shape, x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    ForMatrices(AxesOf(x.shape(), {&x, &y, &y}), [&](const Axis& rows, const Axis& columns, const auto& at) {
      const Matrix<T> from = MatrixOf<T>(x, rows, columns, at[0], 0), to = MatrixOf<T>(y, rows, columns, at[1], 1);
      if (columns.steps[1] == 0) {
        for (std::int64_t row = 0; row < from.rows; ++row) {
          const double sum = std::accumulate(from.row(row), from.row(row) + from.columns, 0.0);
          *to.row(row) += static_cast<T>(sum);
        }
      } else if (rows.steps[1] == 0) {
        kernels::AddColumnSums<T>(from, to.data);
      } else {
        kernels::AddRows<T>(to, from, to);
      }
    });
  });
  return y;
}

Tensor Scaled(const Tensor& x, double factor) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) { kernels::ScaleRows<T>(x.matrix<T>(), factor, y.matrix<T>()); });
  return y;
}

}  // namespace

Tensor Add(const Tensor& a, const Tensor& b) {
  const Tensor y = Broadcast("Add", a, b, []<typename T>(Matrix<T> left, Matrix<T> right, Matrix<T> to) {
    kernels::AddRows<T>(left, right, to);
  });
  return Record(y, {&a, &b}, [a = a.node(), b = b.node(), of_a = a.shape(), of_b = b.shape()](const Tensor& dy) {
    if (a != nullptr) Accumulate(a, SumTo(of_a, dy));
    if (b != nullptr) Accumulate(b, SumTo(of_b, dy));
  });
}

Tensor Multiply(const Tensor& a, const Tensor& b) {
  return Record(Product(a, b), {&a, &b}, [a, b](const Tensor& dy) {
    if (a.node() != nullptr) Accumulate(a.node(), SumTo(a.shape(), Product(dy, b)));
    if (b.node() != nullptr) Accumulate(b.node(), SumTo(b.shape(), Product(dy, a)));
  });
}

Tensor Scale(const Tensor& x, double factor) {
  return Record(Scaled(x, factor), {&x},
                [x = x.node(), factor](const Tensor& dy) { Accumulate(x, Scaled(dy, factor)); });
}

Tensor Sum(const Tensor& x) {
  return Record(SumTo({1}, x.Detached()), {&x}, [x = x.node(), shape = x.shape()](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(shape, dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) { dx.Fill(static_cast<double>(dy.data<T>()[0])); });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
