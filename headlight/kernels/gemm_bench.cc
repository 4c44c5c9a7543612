// Measures products in the shapes of training and decoding relative to the peak. The peak is the speed of the same
// instructions without memory access, on the same number of threads.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/storage.h"
#include "headlight/kernels/activation.h"
#include "headlight/kernels/cross_entropy.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/peak.h"
#include "headlight/kernels/top_k.h"

namespace headlight::kernels {
namespace {

// Returns the peak operations per second of all threads, or 0 if it is unknown for this processor.
double PeakRate(Compute compute) {
  static std::array<double, 5> roofs{};
  double& roof = roofs[static_cast<std::size_t>(compute)];
  if (roof == 0) roof = MeasurePeak(compute).operations;
  return roof;
}

// A random matrix, allocated like a tensor, in huge pages if available.
struct Numbers {
  Numbers(std::int64_t rows, std::int64_t columns, std::uint64_t seed)
      : memory(AllocateStorage(rows * columns * std::int64_t{sizeof(float)})),
        view{reinterpret_cast<float*>(memory.get()), rows, columns, columns} {
    Random random(seed);
    for (std::int64_t i = 0; i < rows * columns; ++i) view.data[i] = static_cast<float>(random.Uniform() - 0.5);
  }
  std::shared_ptr<std::byte> memory;
  Matrix<float> view;
};

struct Shape {
  std::int64_t rows, inputs, outputs;
};

void Report(benchmark::State& state, const Shape& shape, Compute compute) {
  const double operations = 2.0 * static_cast<double>(shape.rows * shape.inputs * shape.outputs);
  state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * operations, benchmark::Counter::kIsIterationInvariantRate);
  if (const double roof = PeakRate(compute); roof > 0)
    state.counters["of_roof"] = benchmark::Counter(operations / roof, benchmark::Counter::kIsIterationInvariantRate);
}

// Rows of inputs and outputs that exceed the caches, as in a training step.
struct Batches {
  explicit Batches(const Shape& shape) {
    constexpr std::int64_t third_level_cache = 48 << 20;
    const std::int64_t bytes = shape.rows * (shape.inputs + shape.outputs) * std::int64_t{sizeof(float)};
    for (std::uint64_t i = 0; i == 0 || static_cast<std::int64_t>(i) * bytes < third_level_cache; ++i) {
      inputs.emplace_back(shape.rows, shape.inputs, 2 * i);
      outputs.emplace_back(shape.rows, shape.outputs, 2 * i + 1);
    }
  }
  std::vector<Numbers> inputs, outputs;
};

void Product(benchmark::State& state, const Shape& shape, Compute compute) {
  const Batches batches(shape);
  const Numbers b(shape.inputs, shape.outputs, 2);
  PackedMatrix<float> packed(shape.inputs, shape.outputs, compute);
  packed.Pack(b.view, /*transposed=*/false);
  std::size_t next = 0;
  for (auto _ : state) {
    Gemm<float>(batches.inputs[next].view, packed, batches.outputs[next].view);
    next = (next + 1) % batches.inputs.size();
  }
  Report(state, shape, compute);
}

void WeightGradient(benchmark::State& state, const Shape& shape, Compute compute) {
  const Batches batches(shape);
  const Numbers c(shape.outputs, shape.inputs, 3);
  std::size_t next = 0;
  for (auto _ : state) {
    GemmTransposed<float>(batches.outputs[next].view, batches.inputs[next].view, c.view, compute);
    next = (next + 1) % batches.inputs.size();
  }
  Report(state, shape, compute);
}

// Compares fused and separate kernels. This benchmark measures the product, bias and activation of a feed-forward
// layer.
void ProductActivation(benchmark::State& state, const Shape& shape, Compute compute, Activation activation,
                       bool fused) {
  const Batches batches(shape);
  const Numbers b(shape.inputs, shape.outputs, 2), bias(1, shape.outputs, 3);
  PackedMatrix<float> packed(shape.inputs, shape.outputs, compute);
  packed.Pack(b.view, /*transposed=*/false);
  std::size_t next = 0;
  for (auto _ : state) {
    const Matrix<float> output = batches.outputs[next].view;
    Gemm<float>(batches.inputs[next].view, packed, output, bias.view.data, fused ? activation : Activation::none);
    if (!fused) ActivationRows<float>(activation, output, output);
    next = (next + 1) % batches.inputs.size();
  }
  Report(state, shape, compute);
}

// Measures the search for a decoder's most probable tokens. The fused version searches one block of the logits at a
// time. The other version searches all logits at once.
void MostLikely(benchmark::State& state, const Shape& shape, Compute compute, bool fused) {
  const Numbers a(shape.rows, shape.inputs, 1), b(shape.inputs, shape.outputs, 2);
  const std::int64_t at_once = fused ? 6 * kTopLogitsStep : shape.outputs;  // as in generate/output_tokens.cc
  const Numbers logits(shape.rows, at_once, 3);
  PackedMatrix<float> packed(shape.inputs, shape.outputs, compute);
  packed.Pack(b.view, /*transposed=*/false);
  for (auto _ : state) {
    TopLogits<float> top(shape.rows, 10);
    for (std::int64_t begin = 0; begin < shape.outputs; begin += at_once) {
      const std::int64_t columns = std::min(at_once, shape.outputs - begin);
      Gemm<float>(a.view, packed.Columns(begin, columns), logits.view.Columns(0, columns));
      AddColumns<float>(logits.view.Columns(0, columns), begin, {}, top);
    }
    benchmark::DoNotOptimize(top.sum.data());
  }
  Report(state, shape, compute);
}

// Measures the output projection with its loss and gradients. The fused version processes one block of rows at a time,
// as in training. The other version computes all logits before the first loss, as separate operations do.
void ProjectionCrossEntropy(benchmark::State& state, const Shape& shape, Compute compute, bool fused) {
  const Numbers x(shape.rows, shape.inputs, 1), dx(shape.rows, shape.inputs, 2);
  const Numbers weight(shape.outputs, shape.inputs, 3), d_weight(shape.outputs, shape.inputs, 4);
  const std::int64_t at_once = fused ? 256 : shape.rows;  // as in ops/projection_cross_entropy.cc
  const Numbers logits(at_once, shape.outputs, 5);
  PackedMatrix<float> forth(shape.inputs, shape.outputs, compute), back(shape.outputs, shape.inputs, compute);
  forth.Pack(weight.view, /*transposed=*/true);
  back.Pack(weight.view, /*transposed=*/false);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(at_once));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i);
  std::vector<double> losses(labels.size());
  for (auto _ : state) {
    for (std::int64_t begin = 0; begin < shape.rows; begin += at_once) {
      Gemm<float>(x.view.Rows(begin, at_once), forth, logits.view);
      CrossEntropyRowsGradient<float>(logits.view, labels, 0.1, 1, losses);
      Gemm<float>(logits.view, back, dx.view.Rows(begin, at_once));
      GemmTransposed<float>(logits.view, x.view.Rows(begin, at_once), d_weight.view, compute);
    }
  }
  Report(state, {3 * shape.rows, shape.inputs, shape.outputs}, compute);
}

// Measures the time for packing the weights in a training step.
void Pack(benchmark::State& state, const Shape& shape, Compute compute) {
  const Numbers b(shape.outputs, shape.inputs, 1);
  PackedMatrix<float> packed(shape.inputs, shape.outputs, compute);
  for (auto _ : state) packed.Pack(b.view, /*transposed=*/true);
  state.counters["bytes"] = benchmark::Counter(4.0 * static_cast<double>(shape.inputs * shape.outputs),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  const auto add = [](const char* name, auto measure, const Shape& shape, Compute compute, auto... more) {
    if (!CpuHas(compute)) return;
    benchmark::RegisterBenchmark(
        fmt::format("{} {} x {} x {} {}", name, shape.rows, shape.inputs, shape.outputs, Name(compute)).c_str(),
        measure, shape, compute, more...)
        ->UseRealTime();
  };
  for (const Compute compute : {Compute::float32, Compute::bfloat16, Compute::int8, Compute::int4}) {
    for (const Shape& shape :
         {Shape{2560, 256, 256}, Shape{2560, 256, 768}, Shape{2560, 256, 1024}, Shape{2560, 1024, 256},
          Shape{256, 256, 8000}, Shape{256, 8000, 256}, Shape{256, 128, 8000}, Shape{2560, 128, 256},
          Shape{2560, 128, 128}, Shape{2560, 512, 2048}}) {
      add("product", Product, shape, compute);
      if (!IsQuantized(compute)) add("gradient", WeightGradient, shape, compute);
    }
    for (const std::int64_t rows : {1, 4, 32, 128, 512})
      for (const auto& [inputs, outputs] : {std::pair{512, 512}, std::pair{512, 2048}, std::pair{512, 32000}})
        add("product", Product, {rows, inputs, outputs}, compute);
    for (const bool fused : {true, false}) {
      add(fused ? "product with relu" : "product, relu", ProductActivation, {2560, 256, 1024}, compute,
          Activation::relu, fused);
      add(fused ? "product with gelu" : "product, gelu", ProductActivation, {2560, 768, 3072}, compute,
          Activation::gelu, fused);
      add(fused ? "product with top 10" : "product, top 10", MostLikely, {160, 256, 8000}, compute, fused);
      if (!IsQuantized(compute))
        add(fused ? "projection with cross-entropy" : "projection, cross-entropy", ProjectionCrossEntropy,
            {2560, 256, 8000}, compute, fused);
    }
    add("pack", Pack, {0, 1024, 256}, compute);
    add("pack", Pack, {0, 512, 32000}, compute);
  }
  return true;
}();

}  // namespace
}  // namespace headlight::kernels

BENCHMARK_MAIN();
