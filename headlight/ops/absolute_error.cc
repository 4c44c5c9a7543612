#include "headlight/ops/absolute_error.h"

#include <cmath>
#include <cstddef>

#include "headlight/autograd/tape.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {

Tensor AbsoluteError(const Tensor& x, std::span<const double> target, double scale) {
  Check(std::ssize(target) == x.elements(), "AbsoluteError: {} targets do not fit {}", target.size(),
        ToString(x.shape()));
  const Tensor loss = Tensor::Empty({1}, x.dtype());
  // The gradient for an incoming gradient of 1.
  const Tensor dx = x.node() != nullptr ? Tensor::Empty(x.shape(), x.dtype()) : Tensor();
  Dispatch(x.dtype(), [&]<typename T>(T) {
    const Matrix<T> values = x.matrix<T>();
    double sum = 0;
    for (std::int64_t row = 0; row < values.rows; ++row)
      for (std::int64_t i = 0; i < values.columns; ++i) {
        const double difference = values.row(row)[i] - target[static_cast<std::size_t>(row * values.columns + i)];
        sum += std::abs(difference);
        if (!dx.empty())
          dx.matrix<T>().row(row)[i] = static_cast<T>(difference > 0 ? scale : difference < 0 ? -scale : 0);
      }
    loss.data<T>()[0] = static_cast<T>(scale * sum);
  });
  return Record(loss, {&x}, [x = x.node(), dx](const Tensor& gradient) {
    ScaleByIncoming(dx, gradient);
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
