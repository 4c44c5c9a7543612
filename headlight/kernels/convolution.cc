#include "headlight/kernels/convolution.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/int4.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/winograd.h"

namespace headlight::kernels {
namespace {

// Sizes of a block of rows. A piece of a block's depth and a panel of the weights fit into the second-level cache
// together.
constexpr std::int64_t kBlockTiles = 16, kMostPanels = 8, kMostBytes = 3072;  // kMostBytes: per row of a piece
constexpr std::int64_t kRowsTogether = 8;  // number of rows that are processed together in the first-level cache

// A part of a product's depth. Its length, and therefore the order of sums, depends only on the depth.
struct Piece {
  std::int64_t begin, depth;
};
Piece PieceAt(std::int64_t index, std::int64_t pieces, std::int64_t depth) {
  const auto even = [&](std::int64_t of) { return of == pieces ? depth : depth * of / pieces / 2 * 2; };
  return {even(index), even(index + 1) - even(index)};
}

// Computes one block of the product: rows [row, row + c.rows) of the taps times panels of the weights, into c.
template <typename T>
struct Block {
  const Unfolded<T>& taps;
  const PackedMatrix<T>& weights;
  std::int64_t row, first_panel;
  Matrix<T> c;
  Epilogue<T> epilogue;
  const Unfolded<std::uint16_t>* rounded_taps = nullptr;  // the same taps in bfloat16, or null
  const Int8Taps* quantized_taps = nullptr;               // the same taps in int8; null unless in int8 and not plain

  // Calls body(panel, columns of the panel, their epilogue, next panel or null) for each panel.
  template <class Body>
  void ForPanels(const Body& body) const {
    for (std::int64_t column = 0; column < c.columns; column += kPanelColumns) {
      const std::int64_t panel = first_panel + column / kPanelColumns;
      const std::int64_t columns = std::min(kPanelColumns, c.columns - column);
      body(weights.panel(panel), c.Columns(column, columns), epilogue.Columns(column, columns),
           panel + 1 < weights.panels() ? weights.panel(panel + 1) : nullptr);
    }
  }

  // For each piece of the depth, calls begin(piece), then body(piece, ...) for each panel. `bytes` is the size of a
  // panel per step of the depth.
  template <class Begin, class Body>
  void ForPieces(std::int64_t most_depth, std::int64_t bytes, const Begin& begin, const Body& body) const {
    const std::int64_t depth = taps.columns(),
                       pieces = std::max<std::int64_t>(1, (depth + most_depth - 1) / most_depth);
    for (std::int64_t index = 0; index < pieces; ++index) {
      const Piece piece = PieceAt(index, pieces, depth);
      begin(piece);
      ForPanels([&](const std::byte* panel, Matrix<T> columns, Epilogue<T> its, const std::byte* next) {
        if (index + 1 < pieces) its.bias = nullptr, its.relu = false;
        if (index > 0) its.added = columns;
        const std::int64_t offset = piece.begin * bytes;
        body(panel + offset, columns, its, next == nullptr ? nullptr : next + offset);
      });
    }
  }

  // Calls body(first, rows) for a few rows at a time.
  template <class Body>
  void ForRows(const Piece& piece, T* scratch, const Body& body) const {
    for (std::int64_t first = 0; first < c.rows; first += kRowsTogether) {
      const std::int64_t rows = std::min(kRowsTogether, c.rows - first);
      body(first, taps.View(row + first, rows, piece.begin, piece.depth, scratch));
    }
  }

  void MultiplyPlain() const {
    struct Left;
    constexpr std::int64_t most_depth = kMostBytes / std::int64_t{sizeof(T)};
    T* const scratch = KeptScratch<Left, T>(taps.plain() ? 0 : c.rows * std::min(most_depth, taps.columns()));
    Matrix<const T> rows;
    ForPieces(
        most_depth, kPanelColumns * std::int64_t{sizeof(T)},
        [&](const Piece& piece) { rows = taps.View(row, c.rows, piece.begin, piece.depth, scratch); },
        [&](const std::byte* panel, Matrix<T> columns, const Epilogue<T>& its, const std::byte* next) {
          PanelProduct<T>(rows, reinterpret_cast<const T*>(panel), columns, its, reinterpret_cast<const T*>(next));
        });
  }

  void MultiplyBfloat16() const {
    struct Left;
    struct Rounded;
    constexpr std::int64_t most_depth = kMostBytes / std::int64_t{sizeof(std::uint16_t)};
    const std::int64_t most = std::min(most_depth, taps.columns());
    T* const scratch = KeptScratch<Left, T>(taps.plain() ? 0 : kRowsTogether * most);
    auto* const rounded = KeptScratch<Rounded, std::uint16_t>(c.rows * 2 * Bfloat16Pairs(most));
    Bfloat16Rows rows;
    ForPieces(
        most_depth, kPanelColumns * std::int64_t{sizeof(std::uint16_t)},
        [&](const Piece& piece) {
          rows = {rounded, 2 * Bfloat16Pairs(piece.depth), 2, Bfloat16Pairs(piece.depth)};
          if (rounded_taps != nullptr) {
            rounded_taps->Read(row, piece.begin, {rounded, c.rows, piece.depth, rows.row_stride});
            for (std::int64_t i = 0; piece.depth % 2 != 0 && i < c.rows; ++i)
              rounded[i * rows.row_stride + piece.depth] = 0;
            return;
          }
          ForRows(piece, scratch, [&](std::int64_t first, Matrix<const T> some) {
            RoundRows(some, rounded + first * rows.row_stride);
          });
        },
        [&](const std::byte* panel, Matrix<T> columns, const Epilogue<T>& its, const std::byte* next) {
          Bfloat16Product(rows, reinterpret_cast<const std::uint16_t*>(panel), columns, its,
                          reinterpret_cast<const std::uint16_t*>(next));
        });
  }

  void MultiplyQuantized() const {
    struct Left;
    struct Quantized;
    const std::int64_t depth = taps.columns();
    auto* const scales = KeptScratch<Quantized, float>(c.rows);
    if (weights.compute() == Compute::int8) {
      const Int8Path& path = Int8PathFor(c.rows);
      const std::int64_t stride = Int8Stride(depth);
      auto* const values = KeptScratch<Quantized, std::uint8_t>(c.rows * stride);
      if (quantized_taps != nullptr)
        quantized_taps->Quantize(row, c.rows, path.zero, values, scales);
      else
        QuantizeRows(taps.maps().Rows(row, c.rows), path.zero, values, scales);
      return ForPanels([&](const std::byte* panel, Matrix<T> columns, const Epilogue<T>& its, const std::byte* next) {
        path.product({values, scales, c.rows, depth}, panel, columns, its, next);
      });
    }
    T* const scratch = KeptScratch<Left, T>(taps.plain() ? 0 : kRowsTogether * depth);
    const std::int64_t groups = Int4Groups(depth), stride = groups * kInt4Group;
    auto* const values = KeptScratch<Quantized, std::int8_t>(c.rows * stride);
    auto* const offsets = KeptScratch<Quantized, std::int32_t>(c.rows * groups);
    ForRows({0, depth}, scratch, [&](std::int64_t first, Matrix<const T> some) {
      QuantizeInt4Rows(some, values + first * stride, offsets + first * groups, scales + first);
    });
    const Int4Product product = Int4Paths().front().product;
    ForPanels([&](const std::byte* panel, Matrix<T> columns, const Epilogue<T>& its, const std::byte*) {
      product({values, offsets, scales, c.rows, depth}, panel, columns, its.bias, its.relu);
    });
  }

  void Multiply() const {
    if constexpr (std::is_same_v<T, float>) {
      if (IsQuantized(weights.compute())) return MultiplyQuantized();
      if (weights.compute() == Compute::bfloat16) return MultiplyBfloat16();
    }
    MultiplyPlain();
  }
};

// Calls body(first row, rows, first column, columns) in parallel for blocks that cover the product. The choice of
// blocks does not change the bits of the result.
template <typename T, class Body>
void ForBlocks(const Unfolded<T>& taps, const PackedMatrix<T>& weights, const Body& body) {
  const std::int64_t rows = taps.rows(), tiles = TilesOf(rows), panels = weights.panels(), threads = Threads();
  if (rows == 0 || panels == 0) return;
  std::int64_t blocks = (tiles + kBlockTiles - 1) / kBlockTiles, groups = (panels + kMostPanels - 1) / kMostPanels;
  while (blocks * groups < 2 * threads && groups < panels) ++groups;
  // If there are few rows, reading the weights takes most of the time, so each thread reads separate panels.
  const bool by_columns =
      blocks == 1 && rows * 4 <= weights.columns() && groups >= threads && !IsQuantized(weights.compute());
  if (!by_columns && blocks < 8 * threads)  // gives each thread the same number of blocks
    blocks = std::min(tiles, (blocks + threads - 1) / threads * threads);
  ForBlocksAndGroups(blocks, groups, [&](std::int64_t its_block, std::int64_t its_group, std::int64_t) {
    const auto first_row = [&](std::int64_t block) { return std::min(rows, block * tiles / blocks * kTileRows); };
    const auto first_column = [&](std::int64_t group) {
      return std::min(weights.columns(), group * panels / groups * kPanelColumns);
    };
    body(first_row(its_block), first_row(its_block + 1) - first_row(its_block), first_column(its_group),
         first_column(its_group + 1) - first_column(its_group));
  });
}

template <typename T>
Unfolded<T> TapsOf(const ConvolutionShape& shape, const MapRows<const T>& x, std::span<const Grid> results) {
  const auto axis = [](std::int64_t taps, std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
    UnfoldedAxis made{.step = stride, .offsets = {}};
    for (std::int64_t tap = 0; tap < taps; ++tap) made.offsets.push_back(tap * dilation - padding);
    return made;
  };
  return Unfolded<T>(x, results,
                     axis(shape.kernel.height, shape.stride.height, shape.padding.height, shape.dilation.height),
                     axis(shape.kernel.width, shape.stride.width, shape.padding.width, shape.dilation.width));
}

// Rounds the maps to bfloat16 and returns the taps of the rounded maps. Returns nullopt if rounding the inputs of each
// tap is less work. The result is valid until the next call on this thread.
template <typename T, class Unfold>
std::optional<Unfolded<std::uint16_t>> RoundedTaps(const MapRows<const T>& maps, const Unfolded<T>& taps,
                                                   Compute compute, const Unfold& unfold) {
  if constexpr (std::is_same_v<T, float>) {
    const Matrix<const float>& from = maps.rows;
    if (compute != Compute::bfloat16 || taps.rows() * taps.columns() <= from.rows * from.columns) return {};
    struct Rounded;
    const Matrix<std::uint16_t> to{KeptScratch<Rounded, std::uint16_t>(from.rows * from.columns), from.rows,
                                   from.columns, from.columns};
    ForRowChunks(from.rows, from.columns, [&](std::int64_t first, std::int64_t count) {
      if (from.stride == from.columns) return ToBfloat16(from.row(first), count * from.columns, to.row(first));
      for (std::int64_t row = first; row < first + count; ++row) ToBfloat16(from.row(row), from.columns, to.row(row));
    });
    return unfold(MapRows<const std::uint16_t>{to, maps.grids});
  }
  return {};
}

// Prepares taps for products in int8, unless they are rows of the maps. Returns nullopt for other types.
template <typename T>
std::optional<Int8Taps> QuantizedTaps(const Unfolded<T>& taps, Compute compute) {
  if constexpr (std::is_same_v<T, float>)
    if (compute == Compute::int8 && !taps.plain()) return Int8Taps(taps);
  return {};
}

template <typename T>
MapRows<T> Channels(const MapRows<T>& maps, std::int64_t group, std::int64_t groups) {
  const std::int64_t channels = maps.rows.columns / groups;
  return {maps.rows.Columns(group * channels, channels), maps.grids};
}

template <typename T>
void AddResidual(Matrix<const T> residual, bool relu, Matrix<T> c) {
  for (std::int64_t row = 0; row < c.rows; ++row)
    for (std::int64_t column = 0; column < c.columns; ++column) {
      const T sum = c.row(row)[column] + residual.row(row)[column];
      c.row(row)[column] = relu && sum < 0 ? 0 : sum;
    }
}

// Output cells of one axis of a transposed convolution: cells `first`, `first` + stride, ... depend on the same taps.
struct Phase {
  std::int64_t first;
  std::vector<std::int64_t> taps;
  UnfoldedAxis axis;

  std::int64_t Places(std::int64_t size, std::int64_t stride) const {
    return size <= first ? 0 : (size - first - 1) / stride + 1;
  }
};

std::vector<Phase> Phases(std::int64_t taps, std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  std::vector<Phase> phases;
  for (std::int64_t first = 0; first < stride; ++first) {
    Phase& phase = phases.emplace_back(Phase{first, {}, {}});
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t from = first + padding - tap * dilation;
      if (from % stride != 0) continue;
      phase.taps.push_back(tap);
      phase.axis.offsets.push_back(from / stride);
    }
  }
  return phases;
}

}  // namespace

template <typename T>
void Convolve(const ConvolutionShape& shape, const MapRows<const T>& x, std::span<const PackedMatrix<T>> weights,
              const MapRows<T>& y, const AfterConvolution<T>& after) {
  Ensure(std::ssize(weights) == shape.groups, "a convolution of {} groups has {} weights", shape.groups,
         weights.size());
  if constexpr (std::is_same_v<T, float>) {
    if (SuitsWinograd(shape, x.rows.columns, y.rows.columns) && weights[0].rows() == kWinogradProducts * x.rows.columns)
      return ConvolveByWinograd(shape, x, weights[0], y, after);
  }
  for (std::int64_t group = 0; group < shape.groups; ++group) {
    const MapRows<const T> maps = Channels(x, group, shape.groups);
    const Unfolded<T> taps = TapsOf(shape, maps, y.grids);
    const PackedMatrix<T>& packed = weights[static_cast<std::size_t>(group)];
    const Matrix<T> to = Channels(y, group, shape.groups).rows;
    Ensure(taps.rows() == to.rows && taps.columns() == packed.rows() && packed.columns() == to.columns,
           "Convolve: [{}, {}] x [{}, {}] -> [{}, {}]", taps.rows(), taps.columns(), packed.rows(), packed.columns(),
           to.rows, to.columns);
    const T* const bias = after.bias == nullptr ? nullptr : after.bias + group * to.columns;
    if (taps.plain() && after.residual.data == nullptr) {
      Gemm<T>(maps.rows, packed, to, bias, after.relu ? Activation::relu : Activation::none);
      continue;
    }
    const Profiled profiled("convolution", taps.rows(), taps.columns(), to.columns, packed.bytes());
    const auto rounded = RoundedTaps(maps, taps, packed.compute(),
                                     [&](const auto& in_bfloat16) { return TapsOf(shape, in_bfloat16, y.grids); });
    const std::optional<Int8Taps> quantized = QuantizedTaps(taps, packed.compute());
    ForBlocks(taps, packed, [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
      const Matrix<T> c = to.Rows(row, rows).Columns(column, columns);
      Block<T> block{taps,
                     packed,
                     row,
                     column / kPanelColumns,
                     c,
                     {.bias = bias == nullptr ? nullptr : bias + column, .relu = after.relu},
                     rounded ? &*rounded : nullptr,
                     quantized ? &*quantized : nullptr};
      if (after.residual.data == nullptr) return block.Multiply();
      const Matrix<const T> residual = after.residual.Columns(group * to.columns + column, columns).Rows(row, rows);
      if (packed.compute() == Compute::int4) {
        block.epilogue.relu = false;
        block.Multiply();
        return AddResidual(residual, after.relu, c);
      }
      block.epilogue.added = residual;
      block.Multiply();
    });
  }
}

template <typename T>
void ConvolveTransposed(const ConvolutionShape& shape, const MapRows<const T>& y, Matrix<const T> weight,
                        Compute compute, const MapRows<T>& x, const T* bias, bool accumulate) {
  const std::int64_t outputs = y.rows.columns / shape.groups, inputs = x.rows.columns / shape.groups;
  Ensure(weight.rows == y.rows.columns && weight.columns == shape.taps() * inputs && (bias == nullptr || !accumulate),
         "ConvolveTransposed: [{}, {}] x [{}, {}] -> [{}, {}]", y.rows.rows, y.rows.columns, weight.rows,
         weight.columns, x.rows.rows, x.rows.columns);
  const std::vector<Phase> vertical =
      Phases(shape.kernel.height, shape.stride.height, shape.padding.height, shape.dilation.height);
  const std::vector<Phase> horizontal =
      Phases(shape.kernel.width, shape.stride.width, shape.padding.width, shape.dilation.width);
  std::vector<std::int64_t> first;  // first row of each map
  std::int64_t of_all = 0;
  for (const Grid& grid : x.grids) {
    first.push_back(of_all);
    of_all += grid.cells();
  }
  std::vector<T> stacked;
  for (std::int64_t group = 0; group < shape.groups; ++group)
    for (const Phase& down : vertical)
      for (const Phase& across : horizontal) {
        std::vector<Grid> places;
        for (const Grid& grid : x.grids)
          places.push_back(
              {down.Places(grid.height, shape.stride.height), across.Places(grid.width, shape.stride.width)});
        const auto unfold = [&]<typename U>(const MapRows<U>& maps) {
          return Unfolded<std::remove_const_t<U>>(maps, places, down.axis, across.axis);
        };
        const MapRows<const T> maps = Channels(y, group, shape.groups);
        const Unfolded<T> taps = unfold(maps);
        const Matrix<T> to = Channels(x, group, shape.groups).rows;
        // Returns the row of x that holds a cell of this phase.
        const auto row_of = [&](std::size_t map, std::int64_t place_y, std::int64_t place_x) {
          return first[map] + (down.first + place_y * shape.stride.height) * x.grids[map].width + across.first +
                 place_x * shape.stride.width;
        };
        if (taps.columns() == 0) {  // no tap reaches these cells
          if (accumulate) continue;
          taps.ForCells(0, taps.rows(), [&](std::size_t map, std::int64_t place_y, std::int64_t place_x) {
            T* const cell = to.row(row_of(map, place_y, place_x));
            for (std::int64_t i = 0; i < inputs; ++i) cell[i] = bias == nullptr ? 0 : bias[group * inputs + i];
          });
          continue;
        }
        stacked.clear();
        for (const std::int64_t i : down.taps)
          for (const std::int64_t j : across.taps)
            for (std::int64_t output = 0; output < outputs; ++output) {
              const T* const row = weight.row(group * outputs + output) + (i * shape.kernel.width + j) * inputs;
              stacked.insert(stacked.end(), row, row + inputs);
            }
        PackedMatrix<T> packed(taps.columns(), inputs, compute);
        packed.Pack({stacked.data(), taps.columns(), inputs, inputs}, /*transposed=*/false);
        if (taps.plain() && shape.stride == Grid{1, 1}) {
          Gemm<T>(maps.rows, packed, to, bias == nullptr ? nullptr : bias + group * inputs, Activation::none,
                  accumulate);
          continue;
        }
        const Profiled profiled("transposed convolution", taps.rows(), taps.columns(), inputs, packed.bytes());
        const auto rounded = RoundedTaps(maps, taps, compute, unfold);
        const std::optional<Int8Taps> quantized = QuantizedTaps(taps, compute);
        ForBlocks(taps, packed, [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
          const Epilogue<T> epilogue{.bias = bias == nullptr ? nullptr : bias + group * inputs + column};
          struct Result;
          const Matrix<T> c{KeptScratch<Result, T>(rows * columns), rows, columns, columns};
          Block<T>{taps,
                   packed,
                   row,
                   column / kPanelColumns,
                   c,
                   epilogue,
                   rounded ? &*rounded : nullptr,
                   quantized ? &*quantized : nullptr}
              .Multiply();
          const T* from = c.data;
          taps.ForCells(row, rows, [&](std::size_t map, std::int64_t place_y, std::int64_t place_x) {
            T* const cell = to.row(row_of(map, place_y, place_x)) + column;
            for (std::int64_t i = 0; i < columns; ++i) cell[i] = accumulate ? cell[i] + from[i] : from[i];
            from += columns;
          });
        });
      }
}

template <typename T>
void AddConvolutionWeightGradient(const ConvolutionShape& shape, const MapRows<const T>& x, const MapRows<const T>& d_y,
                                  Matrix<T> d_weight, Compute compute) {
  const std::int64_t outputs = d_y.rows.columns / shape.groups;
  for (std::int64_t group = 0; group < shape.groups; ++group) {
    const MapRows<const T> inputs = Channels(x, group, shape.groups);
    const Matrix<const T> dy = Channels(d_y, group, shape.groups).rows;
    const Matrix<T> dw = d_weight.Rows(group * outputs, outputs);
    const Unfolded<T> taps = TapsOf(shape, inputs, d_y.grids);
    Ensure(taps.rows() == dy.rows && taps.columns() == dw.columns && !IsQuantized(compute),
           "AddConvolutionWeightGradient: [{}, {}]^T x [{}, {}] -> [{}, {}] in {}", dy.rows, dy.columns, taps.rows(),
           taps.columns(), dw.rows, dw.columns, Name(compute));
    if (taps.plain()) {
      GemmTransposed<T>(dy, inputs.rows, dw, compute);
      continue;
    }
    if (dy.rows == 0) continue;
    const Profiled profiled("convolution's weight gradient", dy.rows, taps.columns(), outputs,
                            sizeof(T) * static_cast<std::size_t>(dw.rows * dw.columns));
    const UnfoldedPart<T> all{&taps, 0, 0, taps.rows(), taps.columns()};
    if constexpr (std::is_same_v<T, float>) {
      if (compute == Compute::bfloat16) {
        AddTransposedBfloat16(dy, all, dw);
        continue;
      }
    }
    AddTransposedProduct<T>(dy, all, dw);
  }
}

#define HEADLIGHT_CONVOLUTION(T)                                                                               \
  template void Convolve(const ConvolutionShape&, const MapRows<const T>&, std::span<const PackedMatrix<T>>,   \
                         const MapRows<T>&, const AfterConvolution<T>&);                                       \
  template void ConvolveTransposed(const ConvolutionShape&, const MapRows<const T>&, Matrix<const T>, Compute, \
                                   const MapRows<T>&, const T*, bool);                                         \
  template void AddConvolutionWeightGradient(const ConvolutionShape&, const MapRows<const T>&,                 \
                                             const MapRows<const T>&, Matrix<T>, Compute)
HEADLIGHT_CONVOLUTION(float);
HEADLIGHT_CONVOLUTION(double);

}  // namespace headlight::kernels
