#include "headlight/kernels/gemm.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/base/storage.h"
#include "headlight/kernels/amx.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/block_product.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/int4.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

std::int64_t PanelBytes(std::int64_t depth, Compute compute, std::int64_t size) {
  if (compute == Compute::int8) return Int8PanelBytes(depth);
  if (compute == Compute::int4) return Int4PanelBytes(depth);
  if (compute == Compute::bfloat16) return Bfloat16Pairs(depth) * kBfloat16Pair * std::int64_t{sizeof(std::uint16_t)};
  return depth * kPanelColumns * size;
}

// Calls pack(column, elements of the column) for the columns of source, or for its rows if `transposed` is true.
template <class Pack>
void ForColumns(Matrix<const float> source, bool transposed, const Pack& pack) {
  std::vector<float> copy(static_cast<std::size_t>(transposed ? 0 : source.rows));
  for (std::int64_t column = 0; column < (transposed ? source.rows : source.columns); ++column) {
    for (std::size_t k = 0; k < copy.size(); ++k) copy[k] = source.row(static_cast<std::int64_t>(k))[column];
    pack(column, transposed ? source.row(column) : copy.data());
  }
}

// Returns the factor of a column, or 1 if `factors` is null.
float FactorOf(const float* factors, std::int64_t column) { return factors == nullptr ? 1 : factors[column]; }

void PackInt8Panel(Matrix<const float> source, bool transposed, const float* factors, std::byte* panel) {
  const std::int64_t depth = transposed ? source.columns : source.rows;
  std::vector<std::int8_t> quantized(static_cast<std::size_t>(depth));
  ForColumns(source, transposed, [&](std::int64_t column, const float* numbers) {
    const float scale = QuantizeRow(numbers, depth, quantized.data());
    PackInt8Column(panel, depth, column, quantized.data(), scale * FactorOf(factors, column));
  });
}

void PackInt4Panel(Matrix<const float> source, bool transposed, const float* factors, std::byte* panel) {
  const std::int64_t depth = transposed ? source.columns : source.rows;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(Int4Groups(depth) * kInt4GroupBytes));
  std::vector<std::int8_t> group_scales(static_cast<std::size_t>(Int4Groups(depth)));
  ForColumns(source, transposed, [&](std::int64_t column, const float* numbers) {
    const float scale = QuantizeInt4(numbers, depth, codes.data(), group_scales.data());
    PackInt4Column(panel, depth, column, codes.data(), group_scales.data(), scale * FactorOf(factors, column));
  });
}

// The division of a product into tasks: blocks of rows times groups of panels. A group fits into half of a second-level
// cache.
struct Blocks {
  std::int64_t blocks, groups;
};
template <typename T>
Blocks BlocksOf(std::int64_t rows, const PackedMatrix<T>& b) {
  constexpr std::int64_t block_rows = 96, tasks_per_thread = 4;
  const std::int64_t max_bytes = MayUseAmx() ? 1 << 20 : 512 << 10;  // with AMX, the second-level cache is 2 MB
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
  const std::int64_t group = std::max<std::int64_t>(
      1, std::min(blocks * b.panels() / (tasks_per_thread * Threads()),
                  max_bytes * b.panels() / static_cast<std::int64_t>(std::max<std::size_t>(1, b.bytes()))));
  return {blocks, (b.panels() + group - 1) / group};
}

// Returns the number of rows that a product processes together. The heights of blocks are multiples of this number.
std::int64_t RowsTogether(Compute compute) {
  return MayUseAmx() && (compute == Compute::bfloat16 || compute == Compute::int8) ? kAmxRows : 1;
}

// Calls product(first row, panels, block of c, epilogue, panels to prefetch or null) for all of c, in parallel.
// Activations other than relu are applied to each block while it is in the cache.
template <typename T, class Product>
void ForBlocks(const PackedMatrix<T>& b, Matrix<T> c, const T* bias, Activation activation, bool accumulate,
               const Product& product) {
  const Blocks division = BlocksOf(c.rows, b);
  const std::int64_t blocks = division.blocks, groups = division.groups;
  const std::int64_t together = RowsTogether(b.compute());
  const auto first_row = [&](std::int64_t block) {
    return std::min(c.rows, (block * c.rows / blocks + together - 1) / together * together);
  };
  ForBlocksAndGroups(blocks, groups, [&](std::int64_t its_block, std::int64_t its_group, std::int64_t next_group) {
    const std::int64_t row = first_row(its_block), rows = first_row(its_block + 1) - row;
    const auto first_panel = [&](std::int64_t of_group) { return of_group * b.panels() / groups; };
    const std::int64_t column = first_panel(its_group) * kPanelColumns;
    const std::int64_t end = std::min(first_panel(its_group + 1) * kPanelColumns, c.columns);
    const Matrix<T> block = c.Rows(row, rows).Columns(column, end - column);
    product(row, b.panel(first_panel(its_group)), block,
            Epilogue<T>{.added = accumulate ? Matrix<const T>(block) : Matrix<const T>(),
                        .bias = bias == nullptr ? nullptr : bias + column,
                        .relu = activation == Activation::relu},
            next_group != its_group && first_panel(next_group) < b.panels() + b.panels_after()
                ? b.panel(first_panel(next_group))
                : nullptr);
    if (activation != Activation::none && activation != Activation::relu) Activate<T>(activation, block);
  });
}

// Works like ForBlocks, but for int8 and int4, and one panel at a time.
template <class Product>
void ForPanels(const PackedMatrix<float>& b, Matrix<float> c, const float* bias, Activation activation,
               std::int64_t panel_bytes, const Product& product) {
  ForBlocks(b, c, bias, activation, /*accumulate=*/false,
            [&](std::int64_t row, const std::byte* panel, Matrix<float> block, const Epilogue<float>& epilogue,
                const std::byte* next) {
              for (std::int64_t column = 0; column < block.columns; column += kPanelColumns, panel += panel_bytes) {
                const std::int64_t columns = std::min(kPanelColumns, block.columns - column);
                product(row, panel, block.Columns(column, columns), epilogue.Columns(column, columns),
                        column + kPanelColumns < block.columns ? panel + panel_bytes : next);
              }
            });
}

void QuantizedGemm(Matrix<const float> a, const PackedMatrix<float>& b, Matrix<float> c, const float* bias,
                   Activation activation) {
  struct Quantized;
  if (b.compute() == Compute::blocks) {
    auto* values = KeptScratch<Quantized, std::int8_t>(a.rows * a.columns);
    auto* sums = KeptScratch<Quantized, std::int32_t>(a.rows * a.columns / kSumRun);
    auto* run_scales = KeptScratch<Quantized, float>(a.rows * a.columns / kBlockRun);
    {
      const Profiled quantizing("quantize", 0, BytesOf(a, 1) * 1.25);
      QuantizeBlockRows(a, values, sums, run_scales);
    }
    const Profiled profiled("product", a.rows, a.columns, c.columns, b.bytes());
    const BlockPath& path = BlockPaths().front();
    return ForBlocks(b, c, bias, activation, /*accumulate=*/false,
                     [&](std::int64_t row, const std::byte*, Matrix<float> block, const Epilogue<float>& epilogue,
                         const std::byte*) {
                       const BlockRows left = {values + row * a.columns, sums + row * a.columns / kSumRun,
                                               run_scales + row * a.columns / kBlockRun, block.rows, a.columns};
                       std::int64_t panel = (block.data - c.row(row)) / kPanelColumns;
                       for (std::int64_t column = 0; column < block.columns; column += kPanelColumns, ++panel)
                         path.product(b.panel_type(panel))(
                             left, b.panel(panel),
                             block.Columns(column, std::min(kPanelColumns, block.columns - column)),
                             epilogue.bias == nullptr ? nullptr : epilogue.bias + column, epilogue.relu);
                     });
  }
  auto* scales = KeptScratch<Quantized, float>(a.rows);
  if (b.compute() == Compute::int8) {
    const Int8Path& path = Int8PathFor(a.rows);
    const std::int64_t stride = Int8Stride(a.columns);
    auto* values = KeptScratch<Quantized, std::uint8_t>(a.rows * stride);
    {
      const Profiled quantizing("quantize", 0, BytesOf(a, 1) * 1.25);
      QuantizeRows(a, path.zero, values, scales);
    }
    const Profiled profiled("product", a.rows, a.columns, c.columns, b.bytes());
    return ForPanels(
        b, c, bias, activation, Int8PanelBytes(a.columns),
        [&](std::int64_t row, const std::byte* panel, Matrix<float> block, const Epilogue<float>& epilogue,
            const std::byte* next) {
          path.product({values + row * stride, scales + row, block.rows, a.columns}, panel, block, epilogue, next);
        });
  }
  const std::int64_t groups = Int4Groups(a.columns), stride = groups * kInt4Group;
  auto* values = KeptScratch<Quantized, std::int8_t>(a.rows * stride);
  auto* offsets = KeptScratch<Quantized, std::int32_t>(a.rows * groups);
  {
    const Profiled quantizing("quantize", 0, BytesOf(a, 1) * 1.25);
    QuantizeInt4Rows(a, values, offsets, scales);
  }
  const Profiled profiled("product", a.rows, a.columns, c.columns, b.bytes());
  const Int4Product product = Int4Paths().front().product;
  ForPanels(b, c, bias, activation, Int4PanelBytes(a.columns),
            [&](std::int64_t row, const std::byte* panel, Matrix<float> block, const Epilogue<float>& epilogue,
                const std::byte*) {
              product({values + row * stride, offsets + row * groups, scales + row, block.rows, a.columns}, panel,
                      block, epilogue.bias, epilogue.relu);
            });
}

}  // namespace

bool CpuHas(Compute compute) { return compute != Compute::bfloat16 || CpuHasBfloat16(); }

template <typename T>
PackedMatrix<T>::PackedMatrix(std::int64_t rows, std::int64_t columns, Compute compute)
    : rows_(rows), columns_(columns), panel_bytes_(PanelBytes(rows, compute, sizeof(T))), compute_(compute) {
  Ensure(compute != Compute::blocks, "blocks are packed from a file");
  Ensure(CpuHas(compute), "products in bfloat16 on a processor without it");
  Ensure(compute == Compute::float32 || std::is_same_v<T, float>, "products of doubles in {}", Name(compute));
  Ensure(compute != Compute::int8 || rows <= kInt8MostDepth, "a product of depth {} in int8; the maximum is {}", rows,
         kInt8MostDepth);
  data_ = AllocateStorage(panels() * panel_bytes_);
}

template <typename T>
PackedMatrix<T>::PackedMatrix(std::int64_t rows, std::int64_t columns, std::span<const GgufType> types)
    : rows_(rows), columns_(columns), compute_(Compute::blocks) {
  Ensure(std::is_same_v<T, float> && std::ssize(types) == panels(), "{} types of {} panels", types.size(), panels());
  std::vector<BlockPanel> places;
  std::int64_t bytes = 0;
  for (const GgufType type : types) {
    places.push_back({type, bytes});
    bytes += BlockPanelBytes(type, rows);
  }
  places.push_back({GgufType::f32, bytes});
  blocks_ = std::make_shared<const std::vector<BlockPanel>>(std::move(places));
  data_ = AllocateStorage(bytes);
}

template <typename T>
std::size_t PackedMatrix<T>::bytes() const {
  if (blocks_ != nullptr) return static_cast<std::size_t>(panel(panels()) - panel(0));
  return static_cast<std::size_t>(panels() * panel_bytes_);
}

template <typename T>
std::int64_t PackedMatrix<T>::panels() const {
  return (columns_ + kPanelColumns - 1) / kPanelColumns;
}

template <typename T>
std::int64_t PackedMatrix<T>::PanelColumns(std::int64_t panel) const {
  return std::min(kPanelColumns, columns_ - panel * kPanelColumns);
}

template <typename T>
void PackedMatrix<T>::Pack(Matrix<const T> source, bool transposed, const T* factors) {
  Ensure(transposed ? source.rows == columns_ && source.columns == rows_
                    : source.rows == rows_ && source.columns == columns_,
         "a [{}, {}] matrix is packed as [{}, {}]", source.rows, source.columns, rows_, columns_);
  if (rows_ == 0) return;
  const Profiled profiled("pack", 0, BytesOf(source, 2));
  ParallelFor(panels(), [&](std::int64_t index) {
    const std::int64_t begin = index * kPanelColumns, columns = PanelColumns(index);
    Matrix<const T> part = transposed ? source.Rows(begin, columns) : source.Columns(begin, columns);
    const T* const of_panel = factors == nullptr ? nullptr : factors + begin;
    std::vector<T> multiplied;
    if (factors != nullptr && !IsQuantized(compute_)) {
      for (std::int64_t row = 0; row < part.rows; ++row)
        for (std::int64_t column = 0; column < part.columns; ++column)
          multiplied.push_back(part.row(row)[column] * of_panel[transposed ? row : column]);
      part = {multiplied.data(), part.rows, part.columns, part.columns};
    }
    if constexpr (std::is_same_v<T, float>) {
      if (IsQuantized(compute_)) {
        std::fill_n(panel(index), panel_bytes_, std::byte{0});
        return (compute_ == Compute::int8 ? PackInt8Panel : PackInt4Panel)(part, transposed, of_panel, panel(index));
      }
      if (compute_ == Compute::bfloat16)
        return PackBfloat16Panel(part, transposed, reinterpret_cast<std::uint16_t*>(panel(index)));
    }
    PackPanel(part, transposed, reinterpret_cast<T*>(panel(index)));
  });
}

template <typename T>
void PackedMatrix<T>::PackQuantized(Matrix<const std::int8_t> values, const float* scales) {
  Ensure(compute_ == Compute::int8 && values.rows == columns_ && values.columns == rows_,
         "a [{}, {}] matrix of int8 is packed as the transpose of a [{}, {}] one of {}", values.rows, values.columns,
         rows_, columns_, Name(compute_));
  ParallelFor(panels(), [&](std::int64_t index) {
    const std::int64_t begin = index * kPanelColumns;
    std::fill_n(panel(index), panel_bytes_, std::byte{0});
    for (std::int64_t column = 0; column < PanelColumns(index); ++column)
      PackInt8Column(panel(index), rows_, column, values.row(begin + column), scales[begin + column]);
  });
}

template <typename T>
void PackedMatrix<T>::PackQuantized(const std::uint8_t* codes, const std::int8_t* group_scales, const float* scales) {
  Ensure(compute_ == Compute::int4, "a matrix of int4 is packed as one of {}", Name(compute_));
  const std::int64_t groups = Int4Groups(rows_);
  ParallelFor(panels(), [&](std::int64_t index) {
    std::fill_n(panel(index), panel_bytes_, std::byte{0});
    for (std::int64_t column = 0; column < PanelColumns(index); ++column) {
      const std::int64_t of_all = index * kPanelColumns + column;
      PackInt4Column(panel(index), rows_, column, codes + of_all * groups * kInt4GroupBytes,
                     group_scales + of_all * groups, scales[of_all]);
    }
  });
}

template <typename T>
void PackedMatrix<T>::PackBlocks(std::span<const std::byte* const> columns) {
  Ensure(compute_ == Compute::blocks && std::ssize(columns) == columns_, "{} rows of blocks are packed as {} of {}",
         columns.size(), columns_, Name(compute_));
  ParallelFor(panels(), [&](std::int64_t index) {
    const std::int64_t begin = index * kPanelColumns, count = PanelColumns(index);
    if (count < kPanelColumns) std::fill(panel(index), panel(index + 1), std::byte{0});
    PackBlockPanel(panel_type(index), rows_,
                   columns.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)), panel(index));
  });
}

template <typename T>
PackedMatrix<T> PackedMatrix<T>::Columns(std::int64_t begin, std::int64_t count) const {
  Ensure(begin >= 0 && begin % kPanelColumns == 0 && count >= 0 && begin + count <= columns_,
         "columns {} to {} of a packed [{}, {}] matrix", begin, begin + count, rows_, columns_);
  PackedMatrix part = *this;
  part.columns_ = count;
  if (blocks_ == nullptr)
    part.data_ = {data_, panel(begin / kPanelColumns)};
  else
    part.first_panel_ += begin / kPanelColumns;
  part.panels_after_ = panels() - begin / kPanelColumns - part.panels();
  return part;
}

template <typename T>
void PackedMatrix<T>::Column(std::int64_t index, T* to) const {
  Ensure(compute_ != Compute::float32 && index >= 0 && index < columns_, "column {} of a [{}, {}] matrix of {}", index,
         rows_, columns_, Name(compute_));
  if constexpr (std::is_same_v<T, float>) {
    if (compute_ == Compute::bfloat16)
      return UnpackBfloat16Column(rows_, reinterpret_cast<const std::uint16_t*>(panel(index / kPanelColumns)),
                                  index % kPanelColumns, to);
    if (compute_ == Compute::blocks)
      return UnpackBlockColumn(panel_type(index / kPanelColumns), rows_, panel(index / kPanelColumns),
                               index % kPanelColumns, to);
    (compute_ == Compute::int8 ? UnpackInt8Column : UnpackInt4Column)(panel(index / kPanelColumns), rows_,
                                                                      index % kPanelColumns, to);
  }
}

template <typename T>
void Gemm(Matrix<const T> a, const PackedMatrix<T>& b, Matrix<T> c, const T* bias, Activation activation,
          bool accumulate) {
  Ensure(a.columns == b.rows() && a.rows == c.rows && b.columns() == c.columns, "Gemm: [{}, {}] x [{}, {}] -> [{}, {}]",
         a.rows, a.columns, b.rows(), b.columns(), c.rows, c.columns);
  Ensure(!accumulate || (bias == nullptr && activation == Activation::none), "Gemm: a sum takes no bias or activation");
  if (a.rows == 0 || c.columns == 0) return;
  if constexpr (std::is_same_v<T, float>) {
    if (IsQuantized(b.compute())) {
      Ensure(!accumulate, "Gemm: a sum in {}", Name(b.compute()));
      return QuantizedGemm(a, b, c, bias, activation);
    }
    if (b.compute() == Compute::bfloat16) {
      const Profiled profiled("product", a.rows, a.columns, c.columns, b.bytes());
      struct RoundedBlock;
      struct RoundedAll;
      const std::int64_t stride = 2 * Bfloat16Pairs(a.columns);
      std::uint16_t* all = nullptr;  // all rounded rows of a, if several groups of panels need them
      if (BlocksOf(c.rows, b).groups > 1) {
        all = KeptScratch<RoundedAll, std::uint16_t>(a.rows * stride);
        ForRowChunks(a.rows, a.columns, [&](std::int64_t first, std::int64_t rows) {
          RoundRows(a.Rows(first, rows), all + first * stride);
        });
      }
      return ForBlocks(b, c, bias, activation, accumulate,
                       [&](std::int64_t row, const std::byte* panels, Matrix<float> block,
                           const Epilogue<float>& epilogue, const std::byte* next) {
                         auto* rounded = all == nullptr ? KeptScratch<RoundedBlock, std::uint16_t>(block.rows * stride)
                                                        : all + row * stride;
                         if (all == nullptr) RoundRows(a.Rows(row, block.rows), rounded);
                         Bfloat16Product({rounded, stride, 2, stride / 2},
                                         reinterpret_cast<const std::uint16_t*>(panels), block, epilogue,
                                         reinterpret_cast<const std::uint16_t*>(next));
                       });
    }
  }
  const Profiled profiled("product", a.rows, a.columns, c.columns, b.bytes());
  ForBlocks(b, c, bias, activation, accumulate,
            [&](std::int64_t row, const std::byte* panels, Matrix<T> block, const Epilogue<T>& epilogue,
                const std::byte* next) {
              PanelProduct<T>(a.Rows(row, block.rows), reinterpret_cast<const T*>(panels), block, epilogue,
                              reinterpret_cast<const T*>(next));
            });
}

template <typename T>
void GemmTransposed(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Compute compute) {
  Ensure(a.rows == b.rows && a.columns == c.rows && b.columns == c.columns,
         "GemmTransposed: [{}, {}]^T x [{}, {}] -> [{}, {}]", a.rows, a.columns, b.rows, b.columns, c.rows, c.columns);
  Ensure(!IsQuantized(compute), "a weight that is {} has no gradient", Name(compute));
  if (a.rows == 0) return;
  const Profiled profiled("weight gradient", a.rows, b.columns, a.columns,
                          sizeof(T) * static_cast<std::size_t>(c.rows * c.columns));
  if constexpr (std::is_same_v<T, float>)
    if (compute == Compute::bfloat16) return AddTransposedBfloat16(a, b, c);
  AddTransposedProduct<T>(a, b, c);
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;
template void Gemm(Matrix<const float>, const PackedMatrix<float>&, Matrix<float>, const float*, Activation, bool);
template void Gemm(Matrix<const double>, const PackedMatrix<double>&, Matrix<double>, const double*, Activation, bool);
template void GemmTransposed(Matrix<const float>, Matrix<const float>, Matrix<float>, Compute);
template void GemmTransposed(Matrix<const double>, Matrix<const double>, Matrix<double>, Compute);

}  // namespace headlight::kernels
