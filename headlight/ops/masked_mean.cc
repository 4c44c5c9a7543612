#include "headlight/ops/masked_mean.h"

#include <algorithm>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"

namespace headlight::ops {

Tensor MaskedMean(const Tensor& x, std::int64_t width, std::span<const std::uint8_t> present, double epsilon) {
  Check(
      width >= 1 && x.rows() >= width && x.rows() % width == 0 && (present.empty() || std::ssize(present) == x.rows()),
      "MaskedMean: x of shape {} and a mask of {} entries do not fit rows of {}", ToString(x.shape()), present.size(),
      width);
  const std::int64_t rows = x.rows() / width, columns = x.columns();
  // The weight of each entry is 1 / (count + epsilon), or 0 if it is missing.
  std::vector<double> weights(static_cast<std::size_t>(rows * width), 1);
  for (std::int64_t index = 0; index < width; ++index) {
    double count = 0;
    for (std::int64_t at = index; at < x.rows(); at += width)
      count += weights[static_cast<std::size_t>(at)] =
          present.empty() || present[static_cast<std::size_t>(at)] != 0 ? 1 : 0;
    for (std::int64_t at = index; at < x.rows(); at += width)
      if (weights[static_cast<std::size_t>(at)] != 0) weights[static_cast<std::size_t>(at)] = 1 / (count + epsilon);
  }
  const Tensor factors = Tensor::Empty({x.rows(), 1}, x.dtype()), y = Tensor::Zeros({width, columns}, x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    std::ranges::transform(weights, factors.data<T>(), [](double weight) { return static_cast<T>(weight); });
    const Tensor weighted = Tensor::Empty({rows, width * columns}, x.dtype());
    kernels::MultiplyRows<T>(x.matrix<T>(), factors.matrix<T>(), weighted.ViewAs({x.rows(), columns}).matrix<T>());
    kernels::AddColumnSums<T>(weighted.matrix<T>(), y.data<T>());
  });
  return Record(y, {&x}, [x = x.node(), shape = x.shape(), factors, rows, width](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(shape, dy.dtype()), all = dx.ViewAs({rows * width, dy.columns()});
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      for (std::int64_t row = 0; row < rows; ++row)
        kernels::MultiplyRows<T>(dy.matrix<T>(), factors.matrix<T>().Rows(row * width, width),
                                 all.matrix<T>().Rows(row * width, width));
    });
    Accumulate(x, dx);
  });
}

}  // namespace headlight::ops
