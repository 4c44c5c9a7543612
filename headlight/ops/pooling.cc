#include "headlight/ops/pooling.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/pooling.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/weighted_rows.h"

namespace headlight::ops {
namespace {

// The cells of each window of all maps. Row i of the result uses rows[begin[i]] to rows[begin[i + 1]] (exclusive).
struct Windows {
  std::vector<Grid> grids;  // grids of the results
  std::vector<std::int32_t> rows, begin = {0};
};

Windows WindowsOf(const char* operation, const FeatureMaps& x, const PoolingShape& shape) {
  CheckMaps(operation, x);
  const auto possible = [](std::int64_t window, std::int64_t stride, std::int64_t padding) {
    constexpr std::int64_t largest = 1 << 16;
    return window >= 1 && stride >= 1 && padding >= 0 && 2 * padding <= window && std::max(window, stride) <= largest;
  };
  Check(possible(shape.window.height, shape.stride.height, shape.padding.height) &&
            possible(shape.window.width, shape.stride.width, shape.padding.width),
        "{}: windows of {} x {} with stride {} x {} and padding {} x {} are not possible", operation,
        shape.window.height, shape.window.width, shape.stride.height, shape.stride.width, shape.padding.height,
        shape.padding.width);
  Check(x.rows.rows() <= std::numeric_limits<std::int32_t>::max(), "{}: too many cells, {}", operation, x.rows.rows());
  Windows windows;
  std::int64_t first = 0;
  for (const Grid& grid : x.grids) {
    const std::int64_t down = grid.height + 2 * shape.padding.height - shape.window.height,
                       across = grid.width + 2 * shape.padding.width - shape.window.width;
    Check(down >= 0 && across >= 0 && grid.cells() > 0, "{}: a map of {} x {} is smaller than a window of {} x {}",
          operation, grid.height, grid.width, shape.window.height, shape.window.width);
    const Grid result = {down / shape.stride.height + 1, across / shape.stride.width + 1};
    for (std::int64_t row = 0; row < result.height; ++row)
      for (std::int64_t column = 0; column < result.width; ++column) {
        const std::int64_t top = row * shape.stride.height - shape.padding.height,
                           left = column * shape.stride.width - shape.padding.width;
        for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + shape.window.height, grid.height); ++y)
          for (std::int64_t at = std::max<std::int64_t>(left, 0); at < std::min(left + shape.window.width, grid.width);
               ++at)
            windows.rows.push_back(static_cast<std::int32_t>(first + y * grid.width + at));
        windows.begin.push_back(static_cast<std::int32_t>(windows.rows.size()));
      }
    windows.grids.push_back(result);
    first += grid.cells();
  }
  return windows;
}

}  // namespace

FeatureMaps MaxPool(const FeatureMaps& x, const PoolingShape& shape) {
  const Windows windows = WindowsOf("MaxPool", x, shape);
  const Tensor y = Tensor::Empty({std::ssize(windows.begin) - 1, x.rows.columns()}, x.rows.dtype());
  const bool wants_gradient = RequiresGradient({&x.rows});
  const Tensor which = wants_gradient ? Tensor::Empty(y.shape(), DType::int32) : Tensor();
  Dispatch(y.dtype(), [&]<typename T>(T) {
    kernels::LargestOfRows<T>(x.rows.matrix<T>(), windows.rows, windows.begin, y.matrix<T>(),
                              wants_gradient ? which.matrix<std::int32_t>() : Matrix<std::int32_t>{});
  });
  if (!wants_gradient) return {y, windows.grids};
  return {Record(y, {&x.rows},
                 [x = x.rows.node(), which](const Tensor& dy) {
                   const Tensor dx = SumSlotFor(x);
                   Dispatch(dy.dtype(), [&]<typename T>(T) {
                     for (std::int64_t row = 0; row < dy.rows(); ++row) {
                       const T* const from = dy.matrix<T>().row(row);
                       const std::int32_t* const to = which.matrix<std::int32_t>().row(row);
                       for (std::int64_t column = 0; column < dy.columns(); ++column)
                         dx.matrix<T>().row(to[column])[column] += from[column];
                     }
                   });
                 }),
          windows.grids};
}

FeatureMaps AveragePool(const FeatureMaps& x, const PoolingShape& shape) {
  const Windows windows = WindowsOf("AveragePool", x, shape);
  // Windows at the border have fewer cells. They are padded with cells of weight 0.
  const std::int64_t cells = shape.window.cells();
  std::vector<std::int32_t> rows;
  std::vector<double> weights;
  for (std::size_t i = 0; i + 1 < windows.begin.size(); ++i)
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const std::int64_t at = windows.begin[i] + cell;
      const bool there = at < windows.begin[i + 1];
      rows.push_back(windows.rows[static_cast<std::size_t>(there ? at : windows.begin[i])]);
      weights.push_back(there ? 1 / static_cast<double>(cells) : 0);
    }
  return {WeightedRows(x.rows, rows, weights, cells), windows.grids};
}

Tensor MeanOfMaps(const FeatureMaps& x) {
  CheckMaps("MeanOfMaps", x);
  const Tensor y = Tensor::Zeros({std::ssize(x.grids), x.rows.columns()}, x.rows.dtype());
  // Calls body(map, row) for every cell, map by map.
  const auto for_cells = [grids = x.grids](const auto& body) {
    std::int64_t row = 0;
    for (std::size_t map = 0; map < grids.size(); ++map)
      for (const std::int64_t end = row + grids[map].cells(); row < end; ++row)
        body(static_cast<std::int64_t>(map), row, grids[map].cells());
  };
  Dispatch(y.dtype(), [&]<typename T>(T) {
    for_cells([&](std::int64_t map, std::int64_t row, std::int64_t cells) {
      const T share = 1 / static_cast<T>(cells);
      const T* const from = x.rows.matrix<T>().row(row);
      T* const to = y.matrix<T>().row(map);
      for (std::int64_t i = 0; i < y.columns(); ++i) to[i] += share * from[i];
    });
  });
  return Record(y, {&x.rows}, [x = x.rows.node(), for_cells](const Tensor& dy) {
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      const Matrix<T> dx = SumSlotFor(x).template matrix<T>();
      for_cells([&](std::int64_t map, std::int64_t row, std::int64_t cells) {
        const T share = 1 / static_cast<T>(cells);
        for (std::int64_t i = 0; i < dx.columns; ++i) dx.row(row)[i] += share * dy.matrix<T>().row(map)[i];
      });
    });
  });
}

FeatureMaps NearestResize(const FeatureMaps& x, const std::vector<Grid>& grids) {
  CheckMaps("NearestResize", x);
  Check(grids.size() == x.grids.size(), "NearestResize: {} sizes for {} maps", grids.size(), x.grids.size());
  std::vector<std::int32_t> rows;
  std::int64_t first = 0;
  for (std::size_t map = 0; map < grids.size(); ++map) {
    const Grid &from = x.grids[map], &to = grids[map];
    Check(from.cells() > 0 || to.cells() == 0, "NearestResize: an empty map cannot be resized to {} x {}", to.height,
          to.width);
    for (std::int64_t row = 0; row < to.height; ++row)
      for (std::int64_t column = 0; column < to.width; ++column)
        rows.push_back(static_cast<std::int32_t>(first + row * from.height / to.height * from.width +
                                                 column * from.width / to.width));
    first += from.cells();
  }
  return {Embedding(x.rows, rows), grids};
}

FeatureMaps NearestDouble(const FeatureMaps& x) {
  std::vector<Grid> grids;
  for (const Grid& grid : x.grids) grids.push_back({2 * grid.height, 2 * grid.width});
  return NearestResize(x, grids);
}

}  // namespace headlight::ops
