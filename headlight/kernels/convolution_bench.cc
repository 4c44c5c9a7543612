// Measures ResNet-50's convolutions relative to the throughput of a large matrix product in the same run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/storage.h"
#include "headlight/kernels/convolution.h"
#include "headlight/kernels/winograd.h"

namespace headlight::kernels {
namespace {

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

// Returns the operations per second of a product whose operands stay in the caches.
double ProductRate(Compute compute) {
  static std::map<Compute, double> rates;
  double& rate = rates[compute];
  if (rate > 0) return rate;
  constexpr std::int64_t rows = 3072, inputs = 512, outputs = 512;
  const Numbers a(rows, inputs, 1), b(inputs, outputs, 2), c(rows, outputs, 3);
  PackedMatrix<float> packed(inputs, outputs, compute);
  packed.Pack(b.view, /*transposed=*/false);
  double best = std::numeric_limits<double>::infinity();
  for (int time = 0; time < 50; ++time) {
    const auto began = std::chrono::steady_clock::now();
    Gemm<float>(a.view, packed, c.view);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  rate = 2.0 * rows * inputs * outputs / best;
  return rate;
}

// A convolution on square maps that occurs `times` times in ResNet-50.
struct Layer {
  const char* name;
  std::int64_t times, size, inputs, outputs, kernel, stride;
  bool residual = false;  // if true, a residual is added, as at the end of a layer

  ConvolutionShape shape() const {
    return {.kernel = {kernel, kernel}, .stride = {stride, stride}, .padding = {kernel / 2, kernel / 2}};
  }
  double operations(std::int64_t images) const {
    const Grid result = shape().ResultOf({size, size});
    return 2.0 * static_cast<double>(images * result.cells() * inputs * outputs * kernel * kernel);
  }
};

const Layer kLayers[] = {
    {"stem", 1, 224, 3, 64, 7, 2},
    {"stage 1 first in", 1, 56, 64, 64, 1, 1},
    {"stage 1 in", 2, 56, 256, 64, 1, 1},
    {"stage 1 middle", 3, 56, 64, 64, 3, 1},
    {"stage 1 out", 3, 56, 64, 256, 1, 1, true},
    {"stage 1 shortcut", 1, 56, 64, 256, 1, 1},
    {"stage 2 first in", 1, 56, 256, 128, 1, 1},
    {"stage 2 first middle", 1, 56, 128, 128, 3, 2},
    {"stage 2 in", 3, 28, 512, 128, 1, 1},
    {"stage 2 middle", 3, 28, 128, 128, 3, 1},
    {"stage 2 out", 4, 28, 128, 512, 1, 1, true},
    {"stage 2 shortcut", 1, 56, 256, 512, 1, 2},
    {"stage 3 first in", 1, 28, 512, 256, 1, 1},
    {"stage 3 first middle", 1, 28, 256, 256, 3, 2},
    {"stage 3 in", 5, 14, 1024, 256, 1, 1},
    {"stage 3 middle", 5, 14, 256, 256, 3, 1},
    {"stage 3 out", 6, 14, 256, 1024, 1, 1, true},
    {"stage 3 shortcut", 1, 28, 512, 1024, 1, 2},
    {"stage 4 first in", 1, 14, 1024, 512, 1, 1},
    {"stage 4 first middle", 1, 14, 512, 512, 3, 2},
    {"stage 4 in", 2, 7, 2048, 512, 1, 1},
    {"stage 4 middle", 2, 7, 512, 512, 3, 1},
    {"stage 4 out", 3, 7, 512, 2048, 1, 1, true},
    {"stage 4 shortcut", 1, 14, 1024, 2048, 1, 2},
};

// A layer with its inputs, weights and outputs.
struct Work {
  Work(const Layer& of, std::int64_t images, Compute compute)
      : layer(of),
        grids(static_cast<std::size_t>(images), Grid{of.size, of.size}),
        results(grids.size(), of.shape().ResultOf(grids.front())),
        x(images * grids.front().cells(), of.inputs, 1),
        y(images * results.front().cells(), of.outputs, 2),
        residual(of.residual ? y.view.rows : 0, of.outputs, 3),
        bias(1, of.outputs, 4),
        weight(of.outputs, of.kernel * of.kernel * of.inputs, 5),
        packed(weight.view.columns, of.outputs, compute) {
    if (compute == Compute::float32 && SuitsWinograd(of.shape(), of.inputs, of.outputs))
      packed = PackedForWinograd(weight.view);
    else
      packed.Pack(weight.view, /*transposed=*/true);
  }
  void Forward() const {
    Convolve<float>(layer.shape(), {x.view, grids}, {&packed, 1}, {y.view, results},
                    {.bias = bias.view.data,
                     .residual = layer.residual ? Matrix<const float>(residual.view) : Matrix<const float>{},
                     .relu = true});
  }
  void InputGradient() const {
    ConvolveTransposed<float>(layer.shape(), {y.view, results}, weight.view, packed.compute(), {x.view, grids},
                              /*bias=*/nullptr, /*accumulate=*/false);
  }
  void WeightGradient() const {
    AddConvolutionWeightGradient<float>(layer.shape(), {x.view, grids}, {y.view, results}, weight.view,
                                        packed.compute());
  }

  const Layer& layer;
  std::vector<Grid> grids, results;
  Numbers x, y, residual, bias, weight;
  PackedMatrix<float> packed;
};

void Report(benchmark::State& state, double operations, Compute compute) {
  state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * operations, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["of_product"] =
      benchmark::Counter(operations / ProductRate(compute), benchmark::Counter::kIsIterationInvariantRate);
}

void OfLayer(benchmark::State& state, const Layer& layer, std::int64_t images, Compute compute,
             void (Work::*pass)() const) {
  const Work work(layer, images, compute);
  for (auto _ : state) (work.*pass)();
  Report(state, layer.operations(images), compute);
}

// Measures all convolutions one after another. Each convolution has its own memory.
void AllLayers(benchmark::State& state, std::int64_t images, Compute compute) {
  std::vector<std::unique_ptr<Work>> all;
  double operations = 0;
  for (const Layer& layer : kLayers)
    for (std::int64_t i = 0; i < layer.times; ++i) {
      all.push_back(std::make_unique<Work>(layer, images, compute));
      operations += layer.operations(images);
    }
  for (auto _ : state)
    for (const std::unique_ptr<Work>& work : all) work->Forward();
  Report(state, operations, compute);
  state.counters["images/s"] =
      benchmark::Counter(static_cast<double>(images), benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  for (const Compute compute : {Compute::float32, Compute::bfloat16, Compute::int8, Compute::int4}) {
    if (!CpuHas(compute)) continue;
    for (const std::int64_t images : {1, 16}) {
      const auto add = [&](const std::string& name, auto... measure) {
        benchmark::RegisterBenchmark(fmt::format("{}, {} images, {}", name, images, Name(compute)).c_str(), measure...)
            ->UseRealTime();
      };
      add("ResNet-50", AllLayers, images, compute);
      for (const Layer& layer : kLayers) {
        add(layer.name, OfLayer, layer, images, compute, &Work::Forward);
        if (IsQuantized(compute) || images == 1) continue;
        add(fmt::format("{}, gradient of the input", layer.name), OfLayer, layer, images, compute,
            &Work::InputGradient);
        add(fmt::format("{}, gradient of the weight", layer.name), OfLayer, layer, images, compute,
            &Work::WeightGradient);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace headlight::kernels

BENCHMARK_MAIN();
