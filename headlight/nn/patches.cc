#include "headlight/nn/patches.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/weighted_rows.h"

namespace headlight {
namespace {

// The weights of an interpolation along one axis. Each resized cell is a weighted sum of `each` input cells. Unused
// terms have weight 0.
struct Terms {
  std::int64_t each = 0;
  std::vector<std::int64_t> cells;  // [to * each]
  std::vector<double> weights;      // [to * each]
};

// Returns the value of the cubic kernel at this distance (Keys, "Cubic Convolution Interpolation", 1981).
double Cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Returns the terms of PyTorch's two cubic kernels, which differ in `a` and at the edges. The plain kernel repeats the
// last cell, and the antialiased kernel omits cells outside the grid. If the axis shrinks, they also differ in width.
Terms CubicTerms(std::int64_t from, std::int64_t to, bool antialias) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), wide = antialias ? std::max(scale, 1.0) : 1;
  Terms terms;
  terms.each = antialias ? static_cast<std::int64_t>(std::ceil(2 * wide)) * 2 + 1 : 4;
  for (std::int64_t i = 0; i < to; ++i) {
    const double place = (static_cast<double>(i) + 0.5) * scale - 0.5;  // cell c has the coordinate c
    const std::int64_t first =
        antialias ? std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(place + 1 - 2 * wide)))
                  : static_cast<std::int64_t>(std::floor(place)) - 1;
    double sum = 0;
    for (std::int64_t cell = first; cell < first + terms.each; ++cell) {
      const bool counts = !antialias || cell < from;
      terms.cells.push_back(std::clamp<std::int64_t>(cell, 0, from - 1));
      terms.weights.push_back(counts ? Cubic((static_cast<double>(cell) - place) / wide, antialias ? -0.5 : -0.75) : 0);
      sum += terms.weights.back();
    }
    for (auto weight = terms.weights.end() - terms.each; weight != terms.weights.end(); ++weight) *weight /= sum;
  }
  return terms;
}

// Returns the terms for align_corners=True: the corner cells keep their coordinates.
Terms LinearTerms(std::int64_t from, std::int64_t to) {
  const double scale = to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0;
  Terms terms;
  terms.each = 2;
  for (std::int64_t i = 0; i < to; ++i) {
    const double place = static_cast<double>(i) * scale;
    const auto cell = std::min(static_cast<std::int64_t>(place), from - 1);
    const double share = place - static_cast<double>(cell);
    terms.cells.insert(terms.cells.end(), {cell, std::min(cell + 1, from - 1)});
    terms.weights.insert(terms.weights.end(), {1 - share, share});
  }
  return terms;
}

}  // namespace

Tensor Patches(std::span<const Tensor> images, Grid patch, std::int64_t channels, DType dtype) {
  std::int64_t count = 0;
  for (const Tensor& image : images) {
    Check(image.shape().rank() == 3 && image.shape()[2] == channels, "an image must be [height, width, {}], not {}",
          channels, ToString(image.shape()));
    const std::int64_t cells = GridOf(image, patch).cells();
    Check(cells > 0, "an image of {} is smaller than a patch of {} x {}", ToString(image.shape()), patch.height,
          patch.width);
    count += cells;
  }
  const Tensor patches = Tensor::Empty({count, channels * patch.cells()}, dtype);
  Dispatch(dtype, [&]<typename T>(T) {
    T* to = patches.data<T>();
    for (const Tensor& image : images) {
      const Grid grid = GridOf(image, patch);
      const std::int64_t width = image.shape()[1];
      const float* const pixels = image.data<float>();
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

Tensor InterpolatePositions(const Tensor& table, Grid from, Grid to, Interpolation interpolation) {
  Check(table.rows() == from.cells(), "a position table of shape {} does not fit a grid of {} x {}",
        ToString(table.shape()), from.height, from.width);
  // The axes are resized one after the other.
  Tensor result = table;
  for (const bool along_rows : {true, false}) {
    const auto side = [&](Grid grid) { return along_rows ? grid.width : grid.height; };
    if (side(from) == side(to)) continue;
    const Terms terms = interpolation == Interpolation::linear
                            ? LinearTerms(side(from), side(to))
                            : CubicTerms(side(from), side(to), interpolation == Interpolation::cubic_antialiased);
    const Grid wanted = along_rows ? Grid{from.height, to.width} : Grid{to.height, from.width};
    std::vector<std::int32_t> rows;
    std::vector<double> weights;
    for (std::int64_t y = 0; y < wanted.height; ++y)
      for (std::int64_t x = 0; x < wanted.width; ++x)
        for (std::int64_t t = 0; t < terms.each; ++t) {
          const auto term = static_cast<std::size_t>((along_rows ? x : y) * terms.each + t);
          const std::int64_t cell = terms.cells[term];
          rows.push_back(static_cast<std::int32_t>(along_rows ? y * from.width + cell : cell * from.width + x));
          weights.push_back(terms.weights[term]);
        }
    result = ops::WeightedRows(result, rows, weights, terms.each);
    from = wanted;
  }
  return result;
}

}  // namespace headlight
