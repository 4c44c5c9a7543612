#include "headlight/ops/channel_norm.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/channel_norm.h"

namespace headlight::ops {
namespace {

// A range of rows that share statistics.
struct Part {
  std::int64_t first, rows;
};

// Converts sums over `rows` rows to the mean of each group of `of_group` channels, repeated for each channel.
template <typename T>
void MeanOfGroups(std::vector<T>& sums, std::int64_t of_group, std::int64_t rows) {
  const auto group = static_cast<std::size_t>(of_group);
  for (std::size_t first = 0; first < sums.size(); first += group) {
    T sum = 0;
    for (std::size_t i = first; i < first + group; ++i) sum += sums[i];
    for (std::size_t i = first; i < first + group; ++i) sums[i] = sum / static_cast<T>(of_group * rows);
  }
}

// Computes the moments of a part, [2, channels]: means, then variances.
template <typename T>
void Moments(Matrix<const T> x, std::int64_t of_group, T* moments) {
  std::vector<T> sums(static_cast<std::size_t>(x.columns), T{0});
  kernels::AddColumnSums<T>(x, sums.data());
  MeanOfGroups(sums, of_group, x.rows);
  std::ranges::copy(sums, moments);
  std::ranges::fill(sums, T{0});
  kernels::AddSquaredDeviations<T>(x, moments, sums.data());
  MeanOfGroups(sums, of_group, x.rows);
  std::ranges::copy(sums, moments + x.columns);
}

template <typename T>
void Normalize(Matrix<const T> x, const T* moments, const T* gain, const T* bias, double epsilon, Matrix<T> y) {
  const auto channels = static_cast<std::size_t>(x.columns);
  std::vector<T> factor(channels), offset(channels);
  for (std::size_t i = 0; i < channels; ++i) {
    factor[i] = gain[i] / std::sqrt(moments[channels + i] + static_cast<T>(epsilon));
    offset[i] = bias[i] - moments[i] * factor[i];
  }
  kernels::ScaleAndShiftRows<T>(x, factor.data(), offset.data(), y);
}

// Writes dx, and adds to d_gain and d_bias. Let inverse = 1 / sqrt(variance + epsilon), normalized = (x - mean) *
// inverse and g = gain dy. Then dx = inverse * (g - mean(g) - normalized * mean(g * normalized)), with means over the
// group.
template <typename T>
void Gradient(Matrix<const T> x, const T* moments, std::int64_t of_group, const T* gain, double epsilon,
              Matrix<const T> dy, Matrix<T> dx, T* d_gain, T* d_bias) {
  const auto channels = static_cast<std::size_t>(x.columns);
  std::vector<T> sums(channels, T{0}), products(channels, T{0}), inverse(channels);
  kernels::AddColumnSums<T>(dy, sums.data());
  kernels::AddDeviationProducts<T>(x, moments, dy, products.data());
  for (std::size_t i = 0; i < channels; ++i) {
    inverse[i] = 1 / std::sqrt(moments[channels + i] + static_cast<T>(epsilon));
    products[i] *= inverse[i];
    d_bias[i] += sums[i];
    d_gain[i] += products[i];
    sums[i] *= gain[i];
    products[i] *= gain[i];
  }
  MeanOfGroups(sums, of_group, x.rows);
  MeanOfGroups(products, of_group, x.rows);
  std::vector<T> of_dy(channels), of_x(channels), offset(channels);
  for (std::size_t i = 0; i < channels; ++i) {
    of_dy[i] = gain[i] * inverse[i];
    of_x[i] = -inverse[i] * inverse[i] * products[i];
    offset[i] = -inverse[i] * sums[i] - of_x[i] * moments[i];
  }
  kernels::CombineRows<T>(dy, of_dy.data(), x, of_x.data(), offset.data(), dx);
}

void CheckShapes(const char* operation, const Tensor& x, const Tensor& gain, const Tensor& bias) {
  Check(x.shape().rank() == 2 && gain.shape() == Shape{x.columns()} && bias.shape() == gain.shape(),
        "{}: a gain of shape {} and a bias of shape {} do not fit x of shape {}", operation, ToString(gain.shape()),
        ToString(bias.shape()), ToString(x.shape()));
}

// Returns the moments [parts, 2 * channels] and y.
std::pair<Tensor, Tensor> NormOfParts(const Tensor& x, const std::vector<Part>& parts, std::int64_t of_group,
                                      const Tensor& gain, const Tensor& bias, double epsilon) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  const Tensor moments = Tensor::Empty({std::ssize(parts), 2 * x.columns()}, x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      T* const its = moments.matrix<T>().row(static_cast<std::int64_t>(i));
      const Matrix<const T> rows = x.matrix<T>().Rows(parts[i].first, parts[i].rows);
      Moments<T>(rows, of_group, its);
      Normalize<T>(rows, its, gain.data<T>(), bias.data<T>(), epsilon,
                   y.matrix<T>().Rows(parts[i].first, parts[i].rows));
    }
  });
  const Tensor recorded = Record(
      y, {&x, &gain, &bias},
      [x = x.Detached(), x_node = x.node(), gain, bias = bias.node(), parts, moments, of_group,
       epsilon](const Tensor& dy) {
        const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
        const auto slot = [&](Node* node) {
          return node != nullptr ? SumSlotFor(node) : Tensor::Zeros(gain.shape(), gain.dtype());
        };
        const Tensor d_gain = slot(gain.node()), d_bias = slot(bias);
        Dispatch(dy.dtype(), [&]<typename T>(T) {
          for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto rows = [&](const Tensor& of) { return of.matrix<T>().Rows(parts[i].first, parts[i].rows); };
            Gradient<T>(rows(x), moments.matrix<T>().row(static_cast<std::int64_t>(i)), of_group, gain.data<T>(),
                        epsilon, rows(dy), rows(dx), d_gain.data<T>(), d_bias.data<T>());
          }
        });
        Accumulate(x_node, dx);
      });
  return {moments, recorded};
}

}  // namespace

BatchNormalized BatchNorm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  CheckShapes("BatchNorm", x, gain, bias);
  Check(x.rows() > 0, "BatchNorm: there are no rows");
  const auto [moments, y] = NormOfParts(x, {{0, x.rows()}}, /*of_group=*/1, gain, bias, epsilon);
  const Tensor both = moments.ViewAs({2, x.columns()});
  const auto row = [&](std::int64_t index) { return both.ViewRows(index, 1).ViewAs({x.columns()}); };
  return {y, row(0), row(1)};
}

Tensor GroupNorm(const FeatureMaps& x, std::int64_t groups, const Tensor& gain, const Tensor& bias, double epsilon) {
  CheckMaps("GroupNorm", x);
  CheckShapes("GroupNorm", x.rows, gain, bias);
  Check(groups >= 1 && x.rows.columns() % groups == 0, "GroupNorm: {} groups do not divide {} channels", groups,
        x.rows.columns());
  std::vector<Part> parts;
  std::int64_t first = 0;
  for (const Grid& grid : x.grids) {
    parts.push_back({first, grid.cells()});
    first += grid.cells();
  }
  return NormOfParts(x.rows, parts, x.rows.columns() / groups, gain, bias, epsilon).second;
}

}  // namespace headlight::ops
