#include "headlight/cli/bench/kernel_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "headlight/base/gguf.h"
#include "headlight/base/sequences.h"
#include "headlight/kernels/activation.h"
#include "headlight/kernels/attention.h"
#include "headlight/kernels/embedding.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/layer_norm.h"
#include "headlight/kernels/panels.h"
#include "headlight/kernels/rms_norm.h"
#include "headlight/kernels/softmax.h"
#include "headlight/kernels/streams.h"
#include "headlight/kernels/top_k.h"
#include "headlight/tensor/tensor.h"

namespace headlight {
namespace {

using Run = std::function<void()>;
using kernels::StreamSums;

Tensor Values(std::int64_t rows, std::int64_t columns) {
  const Tensor values = Tensor::Empty({rows, columns});
  float* const numbers = values.matrix<float>().data;
  constexpr std::uint32_t golden_ratio = 2654435769;  // multiples of this constant modulo 2^32 are spread evenly
  for (std::int64_t i = 0; i < rows * columns; ++i)
    numbers[i] = static_cast<float>(static_cast<std::uint32_t>(i) * golden_ratio) * 0x1p-32F - 0.5F;
  return values;
}

// Reads four parts of the array in parallel. Skips a remainder of fewer than 256 elements.
void Read(const float* numbers, std::int64_t count) {
  const std::int64_t part = count / 4 / 64 * 64;
  const float* const parts[] = {numbers, numbers + part, numbers + 2 * part, numbers + 3 * part};
  StreamSums(parts, part, nullptr);
}

struct Shape {
  std::int64_t rows, depth, columns;
  std::string Text() const { return fmt::format("{} x {} x {}", rows, depth, columns); }
  double operations() const { return 2.0 * static_cast<double>(rows * depth * columns); }
};

// The compute type of the right-hand side of a product and, for block-quantized weights, their type in the file.
struct Weights {
  Compute compute;
  std::optional<GgufType> block;
};

// Returns a matrix whose panels are all equal. The values do not affect how long a matrix product takes.
kernels::PackedMatrix<float> Packed(const Weights& weights, const Shape& shape) {
  if (weights.block) {
    const GgufTypeInfo& info = InfoOf(*weights.block);
    const std::vector<std::byte> column(static_cast<std::size_t>(shape.depth / info.run * info.size), std::byte{0x11});
    const std::vector<const std::byte*> columns(static_cast<std::size_t>(shape.columns), column.data());
    const std::vector<GgufType> types(
        static_cast<std::size_t>((shape.columns + kernels::kPanelColumns - 1) / kernels::kPanelColumns),
        *weights.block);
    kernels::PackedMatrix<float> packed(shape.depth, shape.columns, types);
    packed.PackBlocks(columns);
    return packed;
  }
  const Tensor values = Values(kernels::kPanelColumns, shape.depth);
  kernels::PackedMatrix<float> panel(shape.depth, kernels::kPanelColumns, weights.compute);
  panel.Pack(values.matrix<float>(), /*transposed=*/true);
  kernels::PackedMatrix<float> packed(shape.depth, shape.columns, weights.compute);
  for (std::int64_t i = 0; i < packed.panels(); ++i) std::copy_n(panel.panel(0), panel.bytes(), packed.panel(i));
  return packed;
}

Run Product(const Weights& weights, const Shape& shape) {
  return [a = Values(shape.rows, shape.depth), b = Packed(weights, shape),
          c = Tensor::Empty({shape.rows, shape.columns})] {
    kernels::Gemm<float>(a.matrix<float>(), b, c.matrix<float>());
  };
}

// Returns a product of one row, and a run that only reads the weights.
KernelRuns RowProduct(const Weights& weights, const Shape& shape) {
  const kernels::PackedMatrix<float> b = Packed(weights, shape);
  return {
      [a = Values(shape.rows, shape.depth), b, c = Tensor::Empty({shape.rows, shape.columns})] {
        kernels::Gemm<float>(a.matrix<float>(), b, c.matrix<float>());
      },
      [b] { Read(reinterpret_cast<const float*>(b.panel(0)), static_cast<std::int64_t>(b.bytes() / sizeof(float))); }};
}

// Returns a run that computes c += a^T b.
Run WeightGradient(Compute compute, const Shape& shape) {
  return [a = Values(shape.rows, shape.depth), b = Values(shape.rows, shape.columns),
          c = Values(shape.depth, shape.columns), compute] {
    kernels::GemmTransposed<float>(a.matrix<float>(), b.matrix<float>(), c.matrix<float>(), compute);
  };
}

void AddProducts(bool quick, std::vector<KernelCase>& cases) {
  std::vector<Shape> shapes = {{1024, 1024, 1024}, {2560, 256, 1024}, {640, 512, 2048},
                               {640, 2048, 512},   {32, 512, 2048},   {32, 512, 32000}};
  if (quick) shapes = {{32, 256, 128}};
  constexpr std::int64_t beyond_caches = 256 << 20;  // in bytes; larger than all caches
  for (const Weights& weights : {Weights{Compute::float32, {}}, Weights{Compute::bfloat16, {}},
                                 Weights{Compute::int8, {}}, Weights{Compute::int4, {}},
                                 Weights{Compute::blocks, GgufType::q8_0}, Weights{Compute::blocks, GgufType::q4_k}}) {
    const Compute compute = weights.compute;
    if (!kernels::CpuHas(compute)) continue;
    const std::string name = weights.block ? InfoOf(*weights.block).name : Name(compute);
    for (const Shape& shape : shapes)
      cases.push_back({"GEMM " + name, shape.Text(), compute, KernelLimit::arithmetic, shape.operations(),
                       [weights, shape]() -> KernelRuns { return {Product(weights, shape)}; }});
    Shape row = {1, quick ? 256 : 4096, kernels::kPanelColumns};
    const auto panel_bytes = static_cast<std::int64_t>(Packed(weights, row).bytes());
    const std::int64_t row_panels = quick ? 2 : beyond_caches / panel_bytes;
    row.columns *= row_panels;
    const auto bytes = static_cast<double>(row_panels * panel_bytes);
    cases.push_back({"GEMV " + name, row.Text(), compute, KernelLimit::bandwidth, bytes,
                     [weights, row] { return RowProduct(weights, row); }});
    if (IsQuantized(compute)) continue;
    const Shape training = quick ? shapes[0] : Shape{2560, 256, 1024};
    cases.push_back({"weight gradient " + name, training.Text(), compute, KernelLimit::arithmetic,
                     training.operations(),
                     [compute, training]() -> KernelRuns { return {WeightGradient(compute, training)}; }});
  }
}

struct AttentionShape {
  std::int32_t sequences, tokens;
  bool causal;
};

// Queries, keys and values, stored as columns of one projection, and their gradients.
struct Attention {
  static constexpr std::int32_t kHeads = 8, kHeadDim = 64;
  static constexpr std::int64_t kModel = kHeads * kHeadDim;

  Attention(const AttentionShape& shape, Compute compute) : rows(std::int64_t{shape.sequences} * shape.tokens) {
    for (std::int32_t i = 0; i < shape.sequences; ++i) sequences.push_back({i * shape.tokens, shape.tokens});
    const Matrix<float> all = projection.matrix<float>();
    input.query = all.Columns(0, kModel);
    input.key = all.Columns(kModel, kModel);
    input.value = all.Columns(2 * kModel, kModel);
    input.queries = input.keys = sequences;
    input.heads = kHeads;
    input.scale = 0.125F;
    input.mask.causal = shape.causal;
    input.compute = compute;
  }
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  void Forward() { kernels::AttentionForward<float>(input, output.matrix<float>(), log_sum_exp); }
  void Backward() {
    const Matrix<float> to = gradient.matrix<float>();
    kernels::AttentionBackward<float>(input, output.matrix<float>(), d_output.matrix<float>(), log_sum_exp,
                                      {to.Columns(0, kModel)}, {to.Columns(kModel, kModel)},
                                      {to.Columns(2 * kModel, kModel)});
  }

  std::int64_t rows;
  Tensor projection = Values(rows, 3 * kModel), gradient = Values(rows, 3 * kModel);
  Tensor output = Values(rows, kModel), d_output = Values(rows, kModel);
  Sequences sequences;
  std::vector<float> log_sum_exp = std::vector<float>(static_cast<std::size_t>(rows * kHeads));
  kernels::AttentionInput<float> input;
};

// Adds the attention kernels. The forward pass counts as 2 GEMMs and the backward pass as 5. A causal mask halves the
// counts.
void AddAttention(bool quick, std::vector<KernelCase>& cases) {
  std::vector<AttentionShape> shapes = {{32, 24, false}, {4, 512, false}, {1, 2048, true}};
  if (quick) shapes = {{2, 64, true}};
  for (const Compute compute : {Compute::float32, Compute::bfloat16})
    for (const AttentionShape& shape : shapes) {
      if (!kernels::CpuHas(compute) || (compute != Compute::float32 && shape.tokens < kernels::kLeastRounded)) continue;
      const double product = 2.0 * shape.sequences * shape.tokens * shape.tokens *
                             static_cast<double>(Attention::kModel) * (shape.causal ? 0.5 : 1);
      const std::string text =
          fmt::format("{} x {}{}, 8 heads of 64", shape.sequences, shape.tokens, shape.causal ? " causal" : "");
      cases.push_back({fmt::format("attention {}", Name(compute)), text, compute, KernelLimit::arithmetic, 2 * product,
                       [shape, compute]() -> KernelRuns {
                         return {[all = std::make_shared<Attention>(shape, compute)] { all->Forward(); }};
                       }});
      cases.push_back({fmt::format("attention backward {}", Name(compute)), text, compute, KernelLimit::arithmetic,
                       5 * product, [shape, compute]() -> KernelRuns {
                         const auto all = std::make_shared<Attention>(shape, compute);
                         all->Forward();
                         return {[all] { all->Backward(); }};
                       }});
    }
}

// The operands of kernels that process rows.
struct Rows {
  Matrix<float> x, other, y;
  const float* gain;
};

struct RowKernel {
  const char* name;
  int bytes;  // bytes read and written per element
  void (*run)(const Rows& rows);
};

// Reads and writes as many bytes as a row kernel.
void Stream(int bytes, const Rows& r) {
  const float *const x = r.x.data, *const other = r.other.data;
  const std::int64_t count = r.x.rows * r.x.columns, part = count / 4;
  if (bytes == 4) return Read(x, count);
  if (bytes == 5) return StreamSums(std::array{x, x + part, x + 2 * part, x + 3 * part}, part, r.y.data);
  if (bytes == 8) return StreamSums(std::array{x}, count, r.y.data);
  StreamSums(std::array{x, other}, count, r.y.data);
}

const RowKernel kRowKernels[] = {
    {"softmax", 8, [](const Rows& r) { kernels::SoftmaxRows<float>(r.x, r.y); }},
    {"softmax backward", 12, [](const Rows& r) { kernels::SoftmaxRowsGradient<float>(r.x, r.other, r.y); }},
    {"layer norm", 8, [](const Rows& r) { kernels::LayerNormRows<float>(r.x, r.gain, r.gain, 1e-5, r.y, {}); }},
    {"RMS norm", 8, [](const Rows& r) { kernels::RmsNormRows<float>(r.x, r.gain, 1e-5, r.y, nullptr); }},
    {"ReLU", 8, [](const Rows& r) { kernels::ActivationRows<float>(Activation::relu, r.x, r.y); }},
    {"GELU", 8, [](const Rows& r) { kernels::ActivationRows<float>(Activation::gelu, r.x, r.y); }},
    {"GELU backward", 12,
     [](const Rows& r) { kernels::ActivationRowsGradient<float>(Activation::gelu, r.x, r.other, r.y); }},
    {"SwiGLU", 12, [](const Rows& r) { kernels::GatedRows<float>(Activation::silu, r.x, r.other, r.y); }},
    {"quantize rows to int8", 5,
     [](const Rows& r) {  // writes the scales of the rows and then their integers to the result's memory
       kernels::QuantizeRows(r.x, 0, reinterpret_cast<std::uint8_t*>(r.y.data + r.y.rows), r.y.data);
     }},
    {"embedding", 8,
     [](const Rows& r) {
       std::vector<std::int32_t> ids(static_cast<std::size_t>(r.y.rows));
       for (std::size_t i = 0; i < ids.size(); ++i)
         ids[i] = static_cast<std::int32_t>(i * 7919 % ids.size());  // scattered indices
       kernels::EmbeddingRows<float>(ids, r.x, 1, {}, {}, {}, r.y);
     }},
    {"top 4", 4,
     [](const Rows& r) {
       kernels::TopLogits<float> top(r.x.rows, 4);
       kernels::AddColumns<float>(r.x, 0, {}, top);
     }},
};

void AddRows(bool quick, std::vector<KernelCase>& cases) {
  const std::int64_t rows = quick ? 16 : 16384, columns = quick ? 256 : 1024;
  for (const RowKernel& kernel : kRowKernels)
    cases.push_back(
        {kernel.name, fmt::format("{} x {}", rows, columns), Compute::float32, KernelLimit::bandwidth,
         static_cast<double>(kernel.bytes * rows * columns), [kernel, rows, columns]() -> KernelRuns {
           const Tensor x = Values(rows, columns), other = Values(rows, columns), y = Values(rows, columns),
                        gain = Values(1, columns);
           const auto all = [x, other, y, gain]() -> Rows {
             return {x.matrix<float>(), other.matrix<float>(), y.matrix<float>(), gain.matrix<float>().data};
           };
           return {[kernel, all] { kernel.run(all()); }, [kernel, all] { Stream(kernel.bytes, all()); }};
         }});
}

}  // namespace

std::vector<KernelCase> KernelCases(bool quick) {
  std::vector<KernelCase> cases;
  AddProducts(quick, cases);
  AddAttention(quick, cases);
  AddRows(quick, cases);
  return cases;
}

}  // namespace headlight
