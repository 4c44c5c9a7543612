#include "headlight/nn/patches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/weighted_rows.h"

namespace headlight {
namespace {

// The four cells around a place between cells, and their weights.
struct Cubic {
  std::array<std::int64_t, 4> cells;
  std::array<double, 4> weights;
};

Cubic CubicAt(std::int64_t index, std::int64_t from, std::int64_t to) {
  constexpr double a = -0.75;
  const double place = (static_cast<double>(index) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
  const double base = std::floor(place), t = place - base;
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };       // |x| <= 1
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };  // 1 < |x| < 2
  Cubic cubic{.cells = {}, .weights = {far(t + 1), near(t), near(1 - t), far(2 - t)}};
  for (std::int64_t i = 0; i < 4; ++i)
    cubic.cells[static_cast<std::size_t>(i)] =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(base) - 1 + i, 0, from - 1);
  return cubic;
}

}  // namespace

Tensor Patches(std::span<const Tensor> pictures, Grid patch, std::int64_t channels, DType dtype) {
  std::int64_t count = 0;
  for (const Tensor& picture : pictures) {
    Check(picture.shape().rank() == 3 && picture.shape()[2] == channels,
          "a picture must be [height, width, {}], not {}", channels, ToString(picture.shape()));
    const std::int64_t cells = GridOf(picture, patch).cells();
    Check(cells > 0, "a picture of {} is smaller than a patch of {} x {}", ToString(picture.shape()), patch.height,
          patch.width);
    count += cells;
  }
  const Tensor patches = Tensor::Empty({count, channels * patch.cells()}, dtype);
  Dispatch(dtype, [&]<typename T>(T) {
    T* to = patches.data<T>();
    for (const Tensor& picture : pictures) {
      const Grid grid = GridOf(picture, patch);
      const std::int64_t width = picture.shape()[1];
      const float* const pixels = picture.data<float>();
      for (std::int64_t row = 0; row < grid.height; ++row)
        for (std::int64_t column = 0; column < grid.width; ++column)
          for (std::int64_t channel = 0; channel < channels; ++channel)
            for (std::int64_t y = row * patch.height; y < (row + 1) * patch.height; ++y)
              for (std::int64_t x = column * patch.width; x < (column + 1) * patch.width; ++x)
                *to++ = static_cast<T>(pixels[(y * width + x) * channels + channel]);
    }
  });
  return patches;
}

Tensor InterpolatePositions(const Tensor& table, Grid from, Grid to) {
  Check(table.rows() == from.cells(), "a table of positions {} is not of a grid of {} x {}", ToString(table.shape()),
        from.height, from.width);
  if (from == to) return table;
  std::vector<std::int32_t> rows;
  std::vector<double> weights;
  for (std::int64_t y = 0; y < to.height; ++y) {
    const Cubic vertical = CubicAt(y, from.height, to.height);
    for (std::int64_t x = 0; x < to.width; ++x) {
      const Cubic horizontal = CubicAt(x, from.width, to.width);
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
          rows.push_back(static_cast<std::int32_t>(vertical.cells[i] * from.width + horizontal.cells[j]));
          weights.push_back(vertical.weights[i] * horizontal.weights[j]);
        }
    }
  }
  return ops::WeightedRows(table, rows, weights, 16);
}

}  // namespace headlight
