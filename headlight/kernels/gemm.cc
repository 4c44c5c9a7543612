#include "headlight/kernels/gemm.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/base/signals.h"
#include "headlight/base/storage.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

// A product is cut into tiles of these rows; every tile is one call of a primitive made for exactly that size, on one
// thread. 64 rows reach the rate of larger tiles (115 GFLOP/s a core against 99 for 16 at depth 256).
constexpr std::array<std::int64_t, 3> kTileRows = {64, 16, 4};

// With fewer rows than this, threads share the columns instead of the rows, so that each weight is read by one of them.
constexpr std::int64_t kFewRows = 256;

// Threads share a result's columns in panels: of 64 to 256, an eighth of the columns if that is between. On AVX2 all
// products are in panels, whose rows are plain: of 512 columns they lose a third to cache lines that collide.
std::int64_t PanelColumns(std::int64_t columns, Compute compute) {
  if (compute == Compute::int8) return kInt8PanelColumns;
  return std::clamp<std::int64_t>((columns / 8 + 63) / 64 * 64, 64, 256);
}

std::atomic<std::int64_t> primitives_created{0};

dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

// Primitives are made for and run on one thread: we divide the work ourselves, so that results do not depend on how
// many there are. (oneDNN's own threads would also wait for each other at every call.) Some of oneDNN's products use
// the stack pointer for addresses of their own, where a signal's handler would overwrite what lies below.
class OneThread {
 public:
  OneThread() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  SignalsHeld signals_held_;
  int threads_;
};

dnnl::memory::data_type TypeOf(Compute compute) {
  return compute == Compute::bfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

std::int64_t BytesOf(Compute compute) { return compute == Compute::bfloat16 ? 2 : 4; }

dnnl::memory::desc Plain(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride,
                         Compute type = Compute::float32) {
  return {dnnl::memory::dims{rows, columns}, TypeOf(type), dnnl::memory::dims{row_stride, column_stride}};
}

// The right-hand side's layout, the same for every number of rows.
dnnl::memory::desc PackedLayout(std::int64_t depth, std::int64_t columns, Compute compute) {
  thread_local std::map<std::tuple<std::int64_t, std::int64_t, Compute>, dnnl::memory::desc> layouts;
  auto [found, is_new] = layouts.try_emplace({depth, columns, compute});
  if (is_new) {
    const OneThread one_thread;
    const dnnl::matmul::desc wish(Plain(kTileRows[0], depth, depth, 1, compute),
                                  {dnnl::memory::dims{depth, columns}, TypeOf(compute), dnnl::memory::format_tag::any},
                                  Plain(kTileRows[0], columns, columns, 1));
    found->second = dnnl::matmul::primitive_desc(wish, Engine()).weights_desc();
  }
  return found->second;
}

// One tile's product: the primitive and the handles it is called with, which belong to one thread.
struct TileProduct {
  dnnl::matmul primitive;
  dnnl::memory a, b, c, bias, scratch;
  std::vector<std::byte> scratch_bytes;
};

struct TileKey {
  std::int64_t rows, depth, columns, a_stride, c_stride;
  bool bias, relu, accumulate;
  Compute compute;  // the type of a and b
  auto operator<=>(const TileKey&) const = default;
};

TileProduct& ProductFor(const TileKey& key) {
  thread_local std::map<TileKey, TileProduct> products;
  auto [found, is_new] = products.try_emplace(key);
  TileProduct& product = found->second;
  if (!is_new) return product;
  const OneThread one_thread;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (key.accumulate) after.append_sum(1.0F);
  if (key.relu) after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  const dnnl::memory::desc a = Plain(key.rows, key.depth, key.a_stride, 1, key.compute);
  const dnnl::memory::desc b = PackedLayout(key.depth, key.columns, key.compute);
  const dnnl::memory::desc c = Plain(key.rows, key.columns, key.c_stride, 1);
  const dnnl::memory::desc bias = Plain(1, key.columns, key.columns, 1);
  const dnnl::matmul::desc description = key.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
  const dnnl::matmul::primitive_desc plan(description, attributes, Engine());
  product.primitive = dnnl::matmul(plan);
  product.scratch_bytes.resize(plan.scratchpad_desc().get_size() + 64);
  void* aligned = product.scratch_bytes.data();
  std::size_t space = product.scratch_bytes.size();
  std::align(64, plan.scratchpad_desc().get_size(), aligned, space);
  product.scratch = dnnl::memory(plan.scratchpad_desc(), Engine(), aligned);
  product.a = dnnl::memory(a, Engine(), nullptr);
  product.b = dnnl::memory(b, Engine(), nullptr);
  product.c = dnnl::memory(c, Engine(), nullptr);
  if (key.bias) product.bias = dnnl::memory(bias, Engine(), nullptr);
  primitives_created.fetch_add(1, std::memory_order_relaxed);
  return product;
}

void RunTile(const TileKey& key, const void* a, const void* b, float* c, const float* bias) {
  TileProduct& product = ProductFor(key);
  product.a.set_data_handle(const_cast<void*>(a));
  product.b.set_data_handle(const_cast<void*>(b));
  product.c.set_data_handle(c);
  // The C interface, because the C++ one builds a hash map at every call.
  std::array<dnnl_exec_arg_t, 5> arguments = {{{DNNL_ARG_SRC, product.a.get()},
                                               {DNNL_ARG_WEIGHTS, product.b.get()},
                                               {DNNL_ARG_DST, product.c.get()},
                                               {DNNL_ARG_SCRATCHPAD, product.scratch.get()}}};
  int count = 4;
  if (key.bias) {
    product.bias.set_data_handle(const_cast<float*>(bias));
    arguments[4] = {DNNL_ARG_BIAS, product.bias.get()};
    count = 5;
  }
  const dnnl_status_t status = dnnl_primitive_execute(product.primitive.get(), Stream().get(), count, arguments.data());
  Ensure(status == dnnl_success, "oneDNN's matmul failed with status {}", static_cast<int>(status));
}

// Whether a tile of one row gives the same bits as that row in a larger tile: so with AVX-512, not with AVX2, where
// only tiles of 4, 16 and 64 rows agree.
bool SingleRowsAreExact() {
  static const bool exact =
      (static_cast<int>(dnnl::get_effective_cpu_isa()) & static_cast<int>(dnnl::cpu_isa::avx512_core)) ==
      static_cast<int>(dnnl::cpu_isa::avx512_core);
  return exact;
}

// Fewer rows than the smallest tile has, where one row alone may give other bits: in a tile filled up with zeros.
void RunFilledUp(TileKey key, std::int64_t rows, const float* a, const std::byte* b, float* c, const float* bias) {
  const std::int64_t a_stride = key.a_stride, c_stride = key.c_stride;
  key.rows = kTileRows.back();
  key.a_stride = key.depth;
  key.c_stride = key.columns;
  thread_local std::vector<float> scratch;
  scratch.assign(static_cast<std::size_t>(key.rows * (key.depth + key.columns)), 0.0F);
  float* padded_a = scratch.data();
  float* padded_c = padded_a + key.rows * key.depth;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(a + row * a_stride, key.depth, padded_a + row * key.depth);
    if (key.accumulate) std::copy_n(c + row * c_stride, key.columns, padded_c + row * key.columns);
  }
  RunTile(key, padded_a, b, padded_c, bias);
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(padded_c + row * key.columns, key.columns, c + row * c_stride);
}

// Rows of a, at most a tile of them, times one panel into that panel's columns of c.
void RunRows(Matrix<const float> a, const PackedMatrix<float>::Panel& panel, Matrix<float> c, const float* bias,
             bool relu, bool accumulate, Compute compute) {
  const OneThread one_thread;
  TileKey key{0, a.columns, panel.columns, a.stride, c.stride, bias != nullptr, relu, accumulate, compute};
  const auto* rows_of_a = reinterpret_cast<const std::byte*>(a.data);
  if (compute == Compute::bfloat16) {
    thread_local std::vector<std::uint16_t> rounded;
    rounded.resize(static_cast<std::size_t>(a.rows * a.columns));
    for (std::int64_t row = 0; row < a.rows; ++row) ToBfloat16(a.row(row), a.columns, rounded.data() + row * a.columns);
    rows_of_a = reinterpret_cast<const std::byte*>(rounded.data());
    key.a_stride = a.columns;
  }
  const float* panel_bias = bias == nullptr ? nullptr : bias + panel.begin;
  const auto run = [&](std::int64_t row) {
    RunTile(key, rows_of_a + row * key.a_stride * BytesOf(compute), panel.data, c.row(row) + panel.begin, panel_bias);
  };
  std::int64_t row = 0;
  for (const std::int64_t rows : kTileRows)
    for (key.rows = rows; a.rows - row >= rows; row += rows) run(row);
  if (row == a.rows) return;
  if (SingleRowsAreExact())
    for (key.rows = 1; row < a.rows; ++row) run(row);
  else
    RunFilledUp(key, a.rows - row, a.row(row), panel.data, c.row(row) + panel.begin, panel_bias);
}

void CopyRows(Matrix<const float> from, Matrix<float> to) {
  for (std::int64_t row = 0; row < from.rows; ++row) std::copy_n(from.row(row), from.columns, to.row(row));
}

// The same where oneDNN wants rows side by side (with AVX-512 it falls back to its reference, a hundred times slower,
// where they are not): through copies, which are small beside the product.
void RunRowsDensely(Matrix<const float> a, PackedMatrix<float>::Panel panel, Matrix<float> c, const float* bias,
                    bool relu, bool accumulate, Compute compute) {
  thread_local std::vector<float> scratch;
  scratch.resize(static_cast<std::size_t>(a.rows * (a.columns + panel.columns)));
  const Matrix<float> dense_a{scratch.data(), a.rows, a.columns, a.columns};
  const Matrix<float> dense_c{scratch.data() + a.rows * a.columns, a.rows, panel.columns, panel.columns};
  const Matrix<float> result = c.Columns(panel.begin, panel.columns);
  const bool copy_a = a.stride != a.columns && compute == Compute::float32;  // else RunRows copies
  if (copy_a) CopyRows(a, dense_a);
  if (accumulate) CopyRows(result, dense_c);
  const float* panel_bias = bias == nullptr ? nullptr : bias + panel.begin;
  panel.begin = 0;
  RunRows(copy_a ? dense_a : a, panel, dense_c, panel_bias, relu, accumulate, compute);
  CopyRows(dense_c, result);
}

void PackPanel(Matrix<const float> source, bool transposed, const PackedMatrix<float>::Panel& panel, std::int64_t rows,
               Compute compute) {
  const dnnl::memory::desc layout = PackedLayout(rows, panel.columns, compute);
  const std::int64_t row_stride = transposed ? 1 : source.stride, column_stride = transposed ? source.stride : 1;
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, Compute>;
  thread_local std::map<Key, dnnl::reorder> reorders;
  const dnnl::memory::desc plain = Plain(rows, panel.columns, row_stride, column_stride);
  auto [found, is_new] = reorders.try_emplace({rows, panel.columns, row_stride, column_stride, compute});
  if (is_new) {
    const OneThread one_thread;
    found->second = dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), plain, Engine(), layout));
    primitives_created.fetch_add(1, std::memory_order_relaxed);
  }
  dnnl::memory from(plain, Engine(), const_cast<float*>(source.data + panel.begin * column_stride));
  dnnl::memory to(layout, Engine(), panel.data);
  found->second.execute(Stream(), from, to);
}

void PackPanelInt8(Matrix<const float> source, bool transposed, const PackedMatrix<float>::Panel& panel,
                   std::int64_t rows) {
  std::vector<float> copy(static_cast<std::size_t>(transposed ? 0 : rows));
  std::vector<std::int8_t> quantized(static_cast<std::size_t>(rows));
  std::fill_n(panel.data, Int8PanelBytes(rows), std::byte{0});
  for (std::int64_t column = 0; column < panel.columns; ++column) {
    const std::int64_t index = panel.begin + column;
    for (std::size_t row = 0; row < copy.size(); ++row) copy[row] = source.row(static_cast<std::int64_t>(row))[index];
    const float scale = QuantizeRow(transposed ? source.row(index) : copy.data(), rows, quantized.data());
    PackInt8Column(panel.data, rows, column, quantized.data(), scale);
  }
}

void GemmInt8(Matrix<const float> a, const PackedMatrix<float>& b, Matrix<float> c, const float* bias, bool relu) {
  struct Quantized;
  const std::int64_t stride = Int8Stride(a.columns);
  auto* values = KeptScratch<Quantized, std::uint8_t>(a.rows * stride);
  auto* scales = KeptScratch<Quantized, float>(a.rows);
  QuantizeRows(a, values, scales);
  const Profiled profiled("product", a.rows, a.columns, c.columns, b.bytes());
  const Int8Product product = Int8Paths().front().product;
  constexpr std::int64_t most_rows = 96;  // of 512 numbers, a third of a level-2 cache with a panel beside them
  const std::int64_t blocks = (a.rows + most_rows - 1) / most_rows;
  ParallelFor(blocks * static_cast<std::int64_t>(b.panels().size()), [&](std::int64_t index) {
    const PackedMatrix<float>::Panel& panel = b.panels()[static_cast<std::size_t>(index / blocks)];
    const std::int64_t row = index % blocks * most_rows, rows = std::min(most_rows, a.rows - row);
    product({values + row * stride, scales + row, rows, a.columns}, panel.data,
            c.Rows(row, rows).Columns(panel.begin, panel.columns), bias == nullptr ? nullptr : bias + panel.begin,
            relu);
  });
}

}  // namespace

std::int64_t PrimitivesCreated() { return primitives_created.load(std::memory_order_relaxed); }

const char* Name(Compute compute) {
  if (compute == Compute::int8) return "int8";
  return compute == Compute::bfloat16 ? "bfloat16" : "float32";
}

bool CpuHas(Compute compute) { return compute != Compute::bfloat16 || CpuHasBfloat16(); }

template <typename T>
PackedMatrix<T>::PackedMatrix(std::int64_t rows, std::int64_t columns, Compute compute)
    : rows_(rows), columns_(columns), compute_(compute) {
  Ensure(CpuHas(compute), "products in bfloat16 on a processor without it");
  std::vector<std::size_t> begins;
  const std::int64_t width = PanelColumns(columns, compute);
  Ensure(compute != Compute::int8 || (std::is_same_v<T, float> && rows <= kInt8MostDepth),
         "a product of depth {} in int8, where {} is the most", rows, kInt8MostDepth);
  for (std::int64_t begin = 0; begin < columns; begin += width) {
    panels_.push_back({begin, std::min(width, columns - begin), nullptr});
    begins.push_back(bytes_);
    if (compute == Compute::int8)
      bytes_ += static_cast<std::size_t>(Int8PanelBytes(rows));
    else if constexpr (std::is_same_v<T, float>)
      bytes_ += PackedLayout(rows, panels_.back().columns, compute).get_size();
    else
      bytes_ += static_cast<std::size_t>(rows * panels_.back().columns) * sizeof(T);
  }
  // oneDNN's layout for AVX-512 is blocks of 64 columns, one block after another: so panels of them side by side are
  // the layout of the whole.
  if constexpr (std::is_same_v<T, float>)
    if (columns > 0 && compute != Compute::int8)
      whole_ = PackedLayout(rows, columns, compute).data.format_desc.blocking.inner_nblks > 0 &&
               PackedLayout(rows, columns, compute).get_size() == bytes_;
  data_ = AllocateStorage(static_cast<std::int64_t>(bytes_));
  for (std::size_t i = 0; i < panels_.size(); ++i) panels_[i].data = data_.get() + begins[i];
}

template <typename T>
void PackedMatrix<T>::Pack(Matrix<const T> source, bool transposed) {
  Ensure(transposed ? source.rows == columns_ && source.columns == rows_
                    : source.rows == rows_ && source.columns == columns_,
         "a [{}, {}] matrix is packed as [{}, {}]", source.rows, source.columns, rows_, columns_);
  if (rows_ == 0) return;
  const Profiled profiled("pack weights", 0, BytesOf(source, 2));
  ParallelFor(static_cast<std::int64_t>(panels_.size()), [&](std::int64_t index) {
    const Panel& panel = panels_[static_cast<std::size_t>(index)];
    if (compute_ == Compute::int8) {
      if constexpr (std::is_same_v<T, float>) PackPanelInt8(source, transposed, panel, rows_);
    } else if constexpr (std::is_same_v<T, float>) {
      const OneThread one_thread;
      PackPanel(source, transposed, panel, rows_, compute_);
    } else {
      T* to = reinterpret_cast<T*>(panel.data);
      for (std::int64_t row = 0; row < rows_; ++row)
        for (std::int64_t column = 0; column < panel.columns; ++column)
          *to++ = transposed ? source.row(panel.begin + column)[row] : source.row(row)[panel.begin + column];
    }
  });
}

template <typename T>
void PackedMatrix<T>::PackQuantized(Matrix<const std::int8_t> values, const float* scales) {
  Ensure(compute_ == Compute::int8 && values.rows == columns_ && values.columns == rows_,
         "a [{}, {}] matrix of int8 is packed as the transpose of a [{}, {}] one of {}", values.rows, values.columns,
         rows_, columns_, Name(compute_));
  ParallelFor(static_cast<std::int64_t>(panels_.size()), [&](std::int64_t index) {
    const Panel& panel = panels_[static_cast<std::size_t>(index)];
    std::fill_n(panel.data, Int8PanelBytes(rows_), std::byte{0});
    for (std::int64_t column = 0; column < panel.columns; ++column)
      PackInt8Column(panel.data, rows_, column, values.row(panel.begin + column), scales[panel.begin + column]);
  });
}

template <typename T>
void PackedMatrix<T>::Column(std::int64_t index, T* to) const {
  Ensure(compute_ == Compute::int8 && index >= 0 && index < columns_, "column {} of a [{}, {}] matrix of {}", index,
         rows_, columns_, Name(compute_));
  if constexpr (std::is_same_v<T, float>)
    UnpackInt8Column(panels_[static_cast<std::size_t>(index / kInt8PanelColumns)].data, rows_,
                     index % kInt8PanelColumns, to);
}

template <>
void Gemm(Matrix<const float> a, const PackedMatrix<float>& b, Matrix<float> c, const float* bias, bool relu,
          bool accumulate) {
  Ensure(a.columns == b.rows() && a.rows == c.rows && b.columns() == c.columns, "Gemm: [{}, {}] x [{}, {}] -> [{}, {}]",
         a.rows, a.columns, b.rows(), b.columns(), c.rows, c.columns);
  Ensure(!accumulate || (bias == nullptr && !relu), "Gemm: a sum takes no bias or relu");
  if (a.rows == 0 || c.columns == 0) return;
  if (b.compute() == Compute::int8) {
    Ensure(!accumulate, "Gemm: a sum in int8");
    return GemmInt8(a, b, c, bias, relu);
  }
  const Profiled profiled("product", a.rows, a.columns, c.columns, b.bytes());
  const SignalsHeld held;  // once, instead of for each tile
  if (!b.whole()) {        // AVX2
    const std::int64_t blocks = (a.rows + kTileRows[0] - 1) / kTileRows[0];
    // Panel by panel, so that a panel stays in the cache for all rows.
    return ParallelFor(blocks * static_cast<std::int64_t>(b.panels().size()), [&](std::int64_t index) {
      const std::int64_t row = index % blocks * kTileRows[0], rows = std::min(kTileRows[0], a.rows - row);
      RunRows(a.Rows(row, rows), b.panels()[static_cast<std::size_t>(index / blocks)], c.Rows(row, rows), bias, relu,
              accumulate, b.compute());
    });
  }
  const bool dense = a.stride == a.columns && c.stride == c.columns;
  if (dense && a.rows >= kFewRows) {
    const PackedMatrix<float>::Panel whole{0, c.columns, b.panels().front().data};
    return ParallelFor((a.rows + kTileRows[0] - 1) / kTileRows[0], [&](std::int64_t index) {
      const std::int64_t row = index * kTileRows[0], rows = std::min(kTileRows[0], a.rows - row);
      RunRows(a.Rows(row, rows), whole, c.Rows(row, rows), bias, relu, accumulate, b.compute());
    });
  }
  ParallelFor(static_cast<std::int64_t>(b.panels().size()), [&](std::int64_t index) {
    for (std::int64_t row = 0; row < a.rows; row += kTileRows[0]) {
      const std::int64_t rows = std::min(kTileRows[0], a.rows - row);
      RunRowsDensely(a.Rows(row, rows), b.panels()[static_cast<std::size_t>(index)], c.Rows(row, rows), bias, relu,
                     accumulate, b.compute());
    }
  });
}

template <>
void Gemm(Matrix<const double> a, const PackedMatrix<double>& b, Matrix<double> c, const double* bias, bool relu,
          bool accumulate) {
  ParallelFor(a.rows, [&](std::int64_t row) {
    for (const auto& panel : b.panels()) {
      double* to = c.row(row) + panel.begin;
      for (std::int64_t column = 0; column < panel.columns && !accumulate; ++column)
        to[column] = bias == nullptr ? 0 : bias[panel.begin + column];
      const double* from = reinterpret_cast<const double*>(panel.data);
      for (std::int64_t k = 0; k < b.rows(); ++k, from += panel.columns)
        for (std::int64_t column = 0; column < panel.columns; ++column) to[column] += a.row(row)[k] * from[column];
      if (relu)
        for (std::int64_t column = 0; column < panel.columns; ++column) to[column] = std::max(to[column], 0.0);
    }
  });
}

template <>
void GemmTransposed(Matrix<const float> a, Matrix<const float> b, Matrix<float> c, Compute compute) {
  Ensure(a.rows == b.rows && a.columns == c.rows && b.columns == c.columns,
         "GemmTransposed: [{}, {}]^T x [{}, {}] -> [{}, {}]", a.rows, a.columns, b.rows, b.columns, c.rows, c.columns);
  Ensure(compute != Compute::int8, "a weight that is int8 has no gradient");
  if (a.rows == 0) return;
  const Profiled profiled("weight gradient", a.rows, b.columns, a.columns,
                          sizeof(float) * static_cast<std::size_t>(c.rows * c.columns));
  if (compute == Compute::bfloat16) return GemmTransposedBfloat16(a, b, c);
  // Threads own blocks of the result, so that the order of the sum over rows is the same for any number of them.
  constexpr std::int64_t block_rows = 128, block_columns = 256;
  const std::int64_t down = (c.rows + block_rows - 1) / block_rows;
  const std::int64_t across = (c.columns + block_columns - 1) / block_columns;
  ParallelFor(down * across, [&](std::int64_t index) {
    const std::int64_t row = index / across * block_rows, column = index % across * block_columns;
    const std::int64_t rows = std::min(block_rows, c.rows - row), columns = std::min(block_columns, c.columns - column);
    const OneThread one_thread;
    const dnnl_status_t status = dnnl_sgemm('T', 'N', rows, columns, a.rows, 1.0F, a.data + row, a.stride,
                                            b.data + column, b.stride, 1.0F, c.row(row) + column, c.stride);
    Ensure(status == dnnl_success, "oneDNN's sgemm failed with status {}", static_cast<int>(status));
  });
}

template <>
void GemmTransposed(Matrix<const double> a, Matrix<const double> b, Matrix<double> c, Compute) {
  ParallelFor(c.rows, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < a.rows; ++k)
      for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] += a.row(k)[i] * b.row(k)[j];
  });
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace headlight::kernels
