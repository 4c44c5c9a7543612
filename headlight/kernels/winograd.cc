#include "headlight/kernels/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/winograd.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

using kernels::kTileRead;
using kernels::kTileWritten;

// Computes to = B^T d, with d in `from`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Spread(D d, const V (&from)[kTileRead], V (&to)[kTileRead]) {
  const V even = hn::Sub(from[4], from[2]), odd = hn::Sub(from[3], from[1]);
  const V steep = hn::Set(d, 1.5F), half = hn::Set(d, 0.5F), two = hn::Set(d, 2), wide = hn::Set(d, 2.5F);
  to[0] = hn::MulAdd(steep, odd, hn::NegMulAdd(two, from[2], hn::Add(from[0], from[4])));
  to[1] = hn::MulAdd(wide, from[3], hn::MulAdd(half, from[2], hn::Sub(from[4], from[1])));
  to[2] = hn::MulAdd(half, from[3], hn::NegMulAdd(wide, from[2], hn::Add(from[4], from[1])));
  to[3] = hn::MulAdd(two, odd, even);
  to[4] = hn::NegMulAdd(half, odd, even);
  to[5] = hn::MulAdd(steep, even, hn::NegMulAdd(two, from[3], hn::Add(from[1], from[5])));
}

// Computes to = A^T m, with m in `from`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Gather(D d, const V (&from)[kTileRead], V (&to)[kTileWritten]) {
  const V sum = hn::Add(from[1], from[2]), difference = hn::Sub(from[1], from[2]);
  to[0] = hn::Add(hn::Add(from[0], sum), hn::Add(from[3], from[4]));
  to[1] = hn::MulAdd(hn::Set(d, 0.5F), from[3], hn::NegMulAdd(hn::Set(d, 2), from[4], difference));
  to[2] = hn::MulAdd(hn::Set(d, 0.25F), from[3], hn::MulAdd(hn::Set(d, 4), from[4], sum));
  to[3] = hn::MulAdd(hn::Set(d, 0.125F), from[3], hn::NegMulAdd(hn::Set(d, 8), from[4], hn::Add(difference, from[5])));
}

// Computes B^T d B of a tile's cells, which are null outside the map. Number (i, j) of channel c is written to to[(6 i
// + j) * apart + c].
void SpreadTile(const float* const* cells, std::int64_t channels, float* to, std::int64_t apart) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  ForLanes(d, channels, [&](std::int64_t channel, auto lanes) HWY_ATTR {
    V half[kTileRead][kTileRead];  // transposed intermediate result
    for (int column = 0; column < kTileRead; ++column) {
      V read[kTileRead];
#pragma GCC unroll 6
      for (int row = 0; row < kTileRead; ++row) {
        const float* const cell = cells[row * kTileRead + column];
        read[row] = cell == nullptr ? hn::Zero(d) : LoadLanes(d, cell + channel, lanes);
      }
      Spread(d, read, half[column]);
    }
    for (int row = 0; row < kTileRead; ++row) {
      V read[kTileRead], spread[kTileRead];
#pragma GCC unroll 6
      for (int column = 0; column < kTileRead; ++column) read[column] = half[column][row];
      Spread(d, read, spread);
#pragma GCC unroll 6
      for (int column = 0; column < kTileRead; ++column)
        StoreLanes(spread[column], d, to + (row * kTileRead + column) * apart + channel, lanes);
    }
  });
}

// Computes A^T m A of a tile's products, in the layout of SpreadTile, and the epilogue. to[4 y + x] is the destination
// of result (y, x), or null outside the map.
void GatherTile(const float* products, std::int64_t apart, std::int64_t columns, const float* bias,
                const float* const* residual, bool relu, float* const* to) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  ForLanes(d, columns, [&](std::int64_t begin, auto lanes) HWY_ATTR {
    V half[kTileRead][kTileWritten];
    for (int column = 0; column < kTileRead; ++column) {
      V read[kTileRead];
#pragma GCC unroll 6
      for (int row = 0; row < kTileRead; ++row)
        read[row] = LoadLanes(d, products + (row * kTileRead + column) * apart + begin, lanes);
      Gather(d, read, half[column]);
    }
    const V added = bias == nullptr ? hn::Zero(d) : LoadLanes(d, bias + begin, lanes);
    for (int row = 0; row < kTileWritten; ++row) {
      V read[kTileRead], gathered[kTileWritten];
#pragma GCC unroll 6
      for (int column = 0; column < kTileRead; ++column) read[column] = half[column][row];
      Gather(d, read, gathered);
      for (int column = 0; column < kTileWritten; ++column) {
        float* const index = to[row * kTileWritten + column];
        if (index == nullptr) continue;
        V sum = hn::Add(gathered[column], added);
        if (residual != nullptr) sum = hn::Add(sum, LoadLanes(d, residual[row * kTileWritten + column] + begin, lanes));
        if (relu) sum = hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum);  // unlike max, keeps NaN
        StoreLanes(sum, d, index + begin, lanes);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight {
HWY_EXPORT(SpreadTile);
HWY_EXPORT(GatherTile);
}  // namespace headlight

namespace headlight::kernels {
namespace {

constexpr double kG[kTileRead][3] = {{1, 0, 0},
                                     {1.0 / 3, 1.0 / 3, 1.0 / 3},
                                     {-1.0 / 3, 1.0 / 3, -1.0 / 3},
                                     {-16.0 / 15, -8.0 / 15, -4.0 / 15},
                                     {1.0 / 15, -2.0 / 15, 4.0 / 15},
                                     {0, 0, 1}};

// The maximum size of a block of tiles. The left-hand sides of its products fit into the second-level cache together
// with a panel of the weights.
constexpr std::int64_t kBlockBytes = 1 << 20, kMostTiles = 48;

// Iterates over the tiles of all maps.
class Tiles {
 public:
  explicit Tiles(std::span<const Grid> results) : results_(results) {
    for (const Grid& result : results) {
      first_.push_back(count_);
      first_row_.push_back(rows_);
      count_ += Across(result.height) * Across(result.width);
      rows_ += result.cells();
    }
  }
  std::int64_t count() const { return count_; }

  // Calls body(index from 0, map, y and x of the tile's first result) for tiles [begin, begin + count).
  template <class Body>
  void For(std::int64_t begin, std::int64_t count, const Body& body) const {
    auto map = static_cast<std::size_t>(std::ranges::upper_bound(first_, begin) - first_.begin()) - 1;
    for (std::int64_t i = 0; i < count; ++i) {
      while (map + 1 < first_.size() && first_[map + 1] <= begin + i) ++map;
      const std::int64_t tile = begin + i - first_[map], across = Across(results_[map].width);
      body(i, map, tile / across * kTileWritten, tile % across * kTileWritten);
    }
  }
  std::int64_t first_row(std::size_t map) const { return first_row_[map]; }

 private:
  static std::int64_t Across(std::int64_t results) { return (results + kTileWritten - 1) / kTileWritten; }

  std::span<const Grid> results_;
  std::vector<std::int64_t> first_, first_row_;
  std::int64_t count_ = 0, rows_ = 0;
};

}  // namespace

bool SuitsWinograd(const ConvolutionShape& shape, std::int64_t inputs, std::int64_t outputs) {
  return shape == ConvolutionShape{.kernel = {3, 3}, .padding = shape.padding} && std::min(inputs, outputs) >= 32 &&
         inputs * outputs <= 256 * 256;
}

PackedMatrix<float> PackedForWinograd(Matrix<const float> weight, const float* factors) {
  const std::int64_t inputs = weight.columns / 9, outputs = weight.rows;
  std::vector<float> all(static_cast<std::size_t>(kWinogradProducts * inputs * outputs));
  ParallelFor(inputs, [&](std::int64_t input) {
    for (std::int64_t output = 0; output < outputs; ++output) {
      const float* const taps = weight.row(output) + input;
      const double factor = factors == nullptr ? 1 : double{factors[output]};
      for (std::int64_t i = 0; i < kTileRead; ++i) {
        double half[3] = {};
        for (std::int64_t x = 0; x < 3; ++x)
          for (std::int64_t y = 0; y < 3; ++y) half[x] += kG[i][y] * double{taps[(y * 3 + x) * inputs]};
        for (std::int64_t j = 0; j < kTileRead; ++j)
          all[static_cast<std::size_t>(((i * kTileRead + j) * inputs + input) * outputs + output)] =
              static_cast<float>(factor * (half[0] * kG[j][0] + half[1] * kG[j][1] + half[2] * kG[j][2]));
      }
    }
  });
  PackedMatrix<float> packed(kWinogradProducts * inputs, outputs);
  packed.Pack({all.data(), packed.rows(), outputs, outputs}, /*transposed=*/false);
  return packed;
}

void ConvolveByWinograd(const ConvolutionShape& shape, const MapRows<const float>& x,
                        const PackedMatrix<float>& weights, const MapRows<float>& y,
                        const AfterConvolution<float>& after) {
  const std::int64_t inputs = x.rows.columns, outputs = y.rows.columns;
  const Tiles tiles(y.grids);
  std::vector<std::int64_t> first_cell;
  std::int64_t cells = 0;
  for (const Grid& grid : x.grids) {
    first_cell.push_back(cells);
    cells += grid.cells();
  }
  Ensure(weights.rows() == kWinogradProducts * inputs && weights.columns() == outputs && cells == x.rows.rows,
         "ConvolveByWinograd: [{}, {}] x [{}, {}] -> [{}, {}]", x.rows.rows, inputs, weights.rows(), weights.columns(),
         y.rows.rows, outputs);
  if (tiles.count() == 0) return;
  const Profiled profiled("convolution", kWinogradProducts * tiles.count(), inputs, outputs, weights.bytes());
  const auto spread = HWY_DYNAMIC_DISPATCH(SpreadTile);
  const auto gather = HWY_DYNAMIC_DISPATCH(GatherTile);

  const std::int64_t threads = Threads(), panels = weights.panels();
  const std::int64_t most = std::clamp<std::int64_t>(
      kBlockBytes / (kWinogradProducts * inputs * std::int64_t{sizeof(float)}), kTileRows, kMostTiles);
  std::int64_t blocks = (tiles.count() + most - 1) / most, groups = 1;
  if (blocks == 1 && tiles.count() * 4 <= outputs && panels >= threads)  // each thread reads separate panels
    groups = threads;
  else if (blocks < 8 * threads)
    blocks = std::min(TilesOf(tiles.count()), (blocks + threads - 1) / threads * threads);
  ForBlocksAndGroups(blocks, groups, [&](std::int64_t block, std::int64_t group, std::int64_t) {
    struct Spread;
    struct Products;
    const std::int64_t first = tiles.count() * block / blocks, count = tiles.count() * (block + 1) / blocks - first;
    float* const left = KeptScratch<Spread, float>(kWinogradProducts * count * inputs);
    float* const products = KeptScratch<Products, float>(kWinogradProducts * count * kPanelColumns);
    tiles.For(first, count, [&](std::int64_t i, std::size_t map, std::int64_t top, std::int64_t across) {
      const Grid& grid = x.grids[map];
      const float* from[kWinogradProducts] = {};
      for (std::int64_t row = 0; row < kTileRead; ++row)
        for (std::int64_t column = 0; column < kTileRead; ++column) {
          const std::int64_t cell_y = top + row - shape.padding.height, cell_x = across + column - shape.padding.width;
          if (cell_y >= 0 && cell_y < grid.height && cell_x >= 0 && cell_x < grid.width)
            from[row * kTileRead + column] = x.rows.row(first_cell[map] + cell_y * grid.width + cell_x);
        }
      spread(from, inputs, left + i * inputs, count * inputs);
    });
    for (std::int64_t panel = group * panels / groups; panel < (group + 1) * panels / groups; ++panel) {
      const std::int64_t begin = panel * kPanelColumns, columns = std::min(kPanelColumns, outputs - begin);
      const auto* const taps = reinterpret_cast<const float*>(weights.panel(panel));
      for (std::int64_t product = 0; product < kWinogradProducts; ++product) {
        const float* const factors = taps + product * inputs * kPanelColumns;
        PanelProduct<float>({left + product * count * inputs, count, inputs, inputs}, factors,
                            {products + product * count * kPanelColumns, count, columns, kPanelColumns}, {},
                            product + 1 < kWinogradProducts ? factors + inputs * kPanelColumns : nullptr);
      }
      tiles.For(first, count, [&](std::int64_t i, std::size_t map, std::int64_t top, std::int64_t across) {
        const Grid& result = y.grids[map];
        float* to[kTileWritten * kTileWritten] = {};
        const float* added[kTileWritten * kTileWritten] = {};
        for (std::int64_t row = 0; row < std::min(kTileWritten, result.height - top); ++row)
          for (std::int64_t column = 0; column < std::min(kTileWritten, result.width - across); ++column) {
            const std::int64_t index = tiles.first_row(map) + (top + row) * result.width + across + column;
            to[row * kTileWritten + column] = y.rows.row(index) + begin;
            if (after.residual.data != nullptr) added[row * kTileWritten + column] = after.residual.row(index) + begin;
          }
        gather(products + i * kPanelColumns, count * kPanelColumns, columns,
               after.bias == nullptr ? nullptr : after.bias + begin, after.residual.data == nullptr ? nullptr : added,
               after.relu, to);
      });
    }
  });
}

}  // namespace headlight::kernels
#endif
