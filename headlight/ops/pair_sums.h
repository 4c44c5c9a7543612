// Sums a function of the distance over all pairs of points, such as penalties of atoms that are too close. Pairs are
// not stored.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/loss_gradient.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// The function's value for one pair, and its derivative with respect to the distance.
template <typename T>
struct PairTerm {
  T value = 0, slope = 0;
};

/// Returns scale times the sum over pairs i < j of f(i, j, sqrt(|x_i - x_j|^2 + epsilon)), of shape [1]. f returns a
/// PairTerm of the distance's type and must be symmetric in (i, j). points is [rows, 3 * n]: x, y, z of one or more
/// points per row.
template <typename Function>
Tensor SumOverPairs(const Tensor& points, const Function& f, double epsilon, double scale) {
  Check(points.columns() % 3 == 0, "SumOverPairs: points of shape {}", ToString(points.shape()));
  const std::int64_t in_row = points.columns() / 3, count = points.rows() * in_row;
  const Tensor loss = Tensor::Empty({1}, points.dtype());
  const Tensor d_points = points.node() != nullptr ? Tensor::Empty(points.shape(), points.dtype()) : Tensor();
  std::vector<double> sums(static_cast<std::size_t>(points.rows()));
  Dispatch(points.dtype(), [&]<typename T>(T) {
    const auto at = [&](std::int64_t i) { return points.matrix<T>().row(i / in_row) + 3 * (i % in_row); };
    // Each point sums the terms of all other points, so that no two threads write the same gradient.
    ParallelFor(points.rows(), [&](std::int64_t row) {
      double sum = 0;
      for (std::int64_t i = row * in_row; i < (row + 1) * in_row; ++i) {
        std::array<T, 3> gradient = {};
        for (std::int64_t j = 0; j < count; ++j) {
          if (i == j) continue;
          std::array<T, 3> difference;
          T squares = static_cast<T>(epsilon);
          for (std::size_t axis = 0; axis < 3; ++axis) {
            difference[axis] = at(i)[axis] - at(j)[axis];
            squares += difference[axis] * difference[axis];
          }
          const T distance = std::sqrt(squares);
          const PairTerm<T> term = f(i, j, distance);
          sum += static_cast<double>(term.value);
          for (std::size_t axis = 0; axis < 3; ++axis) gradient[axis] += term.slope * difference[axis] / distance;
        }
        if (d_points.empty()) continue;
        T* const to = d_points.matrix<T>().row(row) + 3 * (i % in_row);
        for (std::size_t axis = 0; axis < 3; ++axis) to[axis] = static_cast<T>(scale) * gradient[axis];
      }
      sums[static_cast<std::size_t>(row)] = sum;
    });
    loss.data<T>()[0] = static_cast<T>(scale / 2 * std::accumulate(sums.begin(), sums.end(), 0.0));
  });
  return Record(loss, {&points}, [node = points.node(), d_points](const Tensor& incoming) {
    ScaleByIncoming(d_points, incoming);
    Accumulate(node, d_points);
  });
}

}  // namespace headlight::ops
