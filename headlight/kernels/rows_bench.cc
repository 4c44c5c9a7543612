// Measures row kernels in bytes per second of processor time, and relative to the peak. The peak is the loop a = b + s
// * c with the same number of threads and array size. Processor time is a reliable measure even on a busy machine.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/kernels/activation.h"
#include "headlight/kernels/adam.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/cross_entropy.h"
#include "headlight/kernels/dropout.h"
#include "headlight/kernels/embedding.h"
#include "headlight/kernels/layer_norm.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/softmax.h"
#include "headlight/kernels/top_k.h"

namespace headlight::kernels {
namespace {

// Returns the bytes per second of processor time of a = b + s * c, with arrays of `bytes` each.
double PeakRate(std::int64_t bytes) {
  static std::map<std::int64_t, double> roofs;
  double& roof = roofs[bytes];
  if (roof > 0) return roof;
  const std::int64_t count = bytes / 4;
  std::vector<float> a(static_cast<std::size_t>(count)), b(a), c(a);
  const auto run = [&](int times) {
    const std::clock_t began = std::clock();  // processor time of all threads
    for (int time = 0; time < times; ++time) {
      ForRowChunks(count, 1, [&](std::int64_t first, std::int64_t rows) {
        float* const to = a.data() + first;
        const float *const x = b.data() + first, *const y = c.data() + first;
        for (std::int64_t i = 0; i < rows; ++i) to[i] = x[i] + 3 * y[i];
      });
      benchmark::DoNotOptimize(a.data());
    }
    return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  };
  const int times = static_cast<int>(2'000'000'000 / bytes) + 1;
  run(2);
  roof = 3.0 * static_cast<double>(bytes) * times / run(times);
  return roof;
}

struct Buffer {
  Buffer(std::int64_t rows, std::int64_t columns, std::uint64_t seed)
      : elements(static_cast<std::size_t>(rows * columns)), view{elements.data(), rows, columns, columns} {
    Random random(seed);
    for (float& element : elements) element = static_cast<float>(random.Uniform() - 0.5);
  }
  std::vector<float> elements;
  Matrix<float> view;
};

// Runs the kernel, which reads and writes `matrices` matrices of rows x columns in total.
template <class Kernel>
void Measure(benchmark::State& state, int matrices, const Kernel& kernel) {
  const std::int64_t rows = state.range(0), columns = state.range(1);
  Buffer a(rows, columns, 1), b(rows, columns, 2), c(rows, columns, 3), d(rows, columns, 4);
  std::vector<float> gain(static_cast<std::size_t>(columns), 1), bias(gain),
      moments(static_cast<std::size_t>(2 * rows), 1);
  for (auto _ : state) kernel(a.view, b.view, c.view, d.view, gain.data(), bias.data(), moments.data());
  const double bytes = 4.0 * static_cast<double>(matrices * rows * columns);
  state.counters["bytes"] = benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["of_roof"] =
      benchmark::Counter(bytes / PeakRate(4 * rows * columns), benchmark::Counter::kIsIterationInvariantRate);
}

using View = Matrix<float>;
const Dropout dropout{0.1, 7};

#define HEADLIGHT_BENCH(NAME, MATRICES, ...)                                                                       \
  void NAME(benchmark::State& state) {                                                                             \
    Measure(state, MATRICES,                                                                                       \
            []([[maybe_unused]] View a, [[maybe_unused]] View b, [[maybe_unused]] View c, [[maybe_unused]] View d, \
               [[maybe_unused]] float* gain, [[maybe_unused]] float* bias,                                         \
               [[maybe_unused]] float* moments) { __VA_ARGS__; });                                                 \
  }                                                                                                                \
  BENCHMARK(NAME)->MeasureProcessCPUTime()

HEADLIGHT_BENCH(Add, 3, AddRows<float>(a, b, c))->Args({4096, 256})->Args({32, 512});
HEADLIGHT_BENCH(ColumnSums, 1, AddColumnSums<float>(a, bias))->Args({4096, 256})->Args({4096, 1024});
HEADLIGHT_BENCH(Softmax, 2, SoftmaxRows<float>(a, b))->Args({4096, 256})->Args({32, 32000});
HEADLIGHT_BENCH(SoftmaxGradient, 3, SoftmaxRowsGradient<float>(a, b, c))->Args({4096, 256});
HEADLIGHT_BENCH(Drop, 2, DropoutRows<float>(a, dropout, b))->Args({4096, 256});
HEADLIGHT_BENCH(ResidualDropout, 3, ResidualRows<float>(a, b, dropout, c))->Args({4096, 256});
HEADLIGHT_BENCH(LayerNorm, 2, LayerNormRows<float>(a, gain, bias, 1e-5, b, {moments, moments + a.rows}))
    ->Args({4096, 256})
    ->Args({4096, 512})
    ->Args({32, 512});
HEADLIGHT_BENCH(LayerNormGradient, 3,
                LayerNormRowsGradient<float>(a, gain, {moments, moments + a.rows}, b, c, bias, bias))
    ->Args({4096, 256})
    ->Args({4096, 512});
HEADLIGHT_BENCH(ResidualLayerNorm, 4,
                ResidualLayerNormRows<float>(a, b, dropout, gain, bias, 1e-5, c, d, {moments, moments + a.rows}))
    ->Args({4096, 256})
    ->Args({4096, 512});
// Measures ResidualLayerNorm as three separate kernels.
HEADLIGHT_BENCH(ResidualLayerNormComposed, 4, DropoutRows<float>(b, dropout, c); AddRows<float>(a, c, c);
                LayerNormRows<float>(c, gain, bias, 1e-5, d, {moments, moments + a.rows}))
    ->Args({4096, 256})
    ->Args({4096, 512});
HEADLIGHT_BENCH(ResidualLayerNormGradient, 4,
                ResidualLayerNormRowsGradient<float>(a, gain, {moments, moments + a.rows}, dropout, b, c, d, bias,
                                                     bias))
    ->Args({4096, 256})
    ->Args({4096, 512});
HEADLIGHT_BENCH(Relu, 2, ActivationRows<float>(Activation::relu, a, b))->Args({4096, 1024});
HEADLIGHT_BENCH(ReluGradient, 3, ActivationRowsGradient<float>(Activation::relu, a, b, c))->Args({4096, 1024});
HEADLIGHT_BENCH(Gelu, 2, ActivationRows<float>(Activation::gelu, a, b))->Args({4096, 1024});
HEADLIGHT_BENCH(GeluGradient, 3, ActivationRowsGradient<float>(Activation::gelu, a, b, c))->Args({4096, 1024});
HEADLIGHT_BENCH(GeluTanh, 2, ActivationRows<float>(Activation::gelu_tanh, a, b))->Args({4096, 1024});
HEADLIGHT_BENCH(Silu, 2, ActivationRows<float>(Activation::silu, a, b))->Args({4096, 1024});
HEADLIGHT_BENCH(Adam, 7,
                AdamUpdate<float>({}, std::span(a.data, static_cast<std::size_t>(a.rows* a.columns)),
                                  std::span(b.data, static_cast<std::size_t>(a.rows* a.columns)),
                                  std::span(c.data, static_cast<std::size_t>(a.rows* a.columns)),
                                  std::span(d.data, static_cast<std::size_t>(a.rows* a.columns)), {}))
    ->Args({7600, 1000});
HEADLIGHT_BENCH(Squares, 1,
                benchmark::DoNotOptimize(SumOfSquares<float>({a.data, static_cast<std::size_t>(a.rows* a.columns)})))
    ->Args({7600, 1000});

void CrossEntropy(benchmark::State& state) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(state.range(0)), 5);
  std::vector<double> losses(labels.size());
  Measure(state, 2, [&](View a, View, View, View, float*, float*, float*) {
    CrossEntropyRowsGradient<float>(a, labels, 0.1, 1, losses);
  });
}
BENCHMARK(CrossEntropy)->MeasureProcessCPUTime()->Args({256, 8000})->Args({256, 32000});

void TopK(benchmark::State& state) {
  Measure(state, 1, [&](View a, View, View, View, float*, float*, float*) {
    TopLogits<float> top(state.range(0), state.range(2));
    AddColumns<float>(a, 0, {}, top);
    benchmark::DoNotOptimize(top.sum.data());
  });
}
BENCHMARK(TopK)->MeasureProcessCPUTime()->Args({160, 32000, 10})->Args({160, 32000, 1})->Args({32, 8000, 10});

// Measures a batch of tokens from a vocabulary of 8,000. Some tokens are frequent. If `gradient` is true, adds
// gradients to the table.
void Embedding(benchmark::State& state) {
  const bool gradient = state.range(2) != 0;
  Buffer table(8000, state.range(1), 1);
  Random random(2);
  std::vector<std::int32_t> ids;
  for (std::int64_t row = 0; row < state.range(0); ++row)
    ids.push_back(static_cast<std::int32_t>(8000 * random.Uniform() * random.Uniform() * random.Uniform()));
  const std::vector<std::int32_t> positions(ids.size(), 3);
  Measure(state, gradient ? 3 : 2, [&](View a, View b, View, View, float*, float*, float*) {
    if (gradient) {
      EmbeddingRowsGradient<float>(ids, a, 16, dropout, table.view);
    } else {
      EmbeddingRows<float>(ids, table.view, 16, positions, b, dropout, a);
    }
  });
}
BENCHMARK(Embedding)->MeasureProcessCPUTime()->Args({4096, 256, 0})->Args({4096, 256, 1});

}  // namespace
}  // namespace headlight::kernels

BENCHMARK_MAIN();
