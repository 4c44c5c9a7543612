// How fast attention is in the shapes that matter: training on short sentences, decoding, long sequences. GFLOP/s count
// what plain matrix products would need: 2 products forward, 5 backward, half of them under a causal mask.
#include <benchmark/benchmark.h>

#include "headlight/base/random.h"
#include "headlight/kernels/attention.h"

namespace headlight::kernels {
namespace {

struct Shape {
  const char* name;
  std::vector<std::pair<std::int32_t, std::int32_t>> lengths;
  std::int32_t heads, head_dim;
  bool causal;
  double dropout;
};

// About `tokens` tokens in sentences of 5 to 25.
std::vector<std::pair<std::int32_t, std::int32_t>> Short(std::int32_t tokens) {
  std::vector<std::pair<std::int32_t, std::int32_t>> lengths;
  Random random(1);
  while (tokens > 0) {
    const std::int32_t length = 5 + static_cast<std::int32_t>(random.Below(21));
    lengths.emplace_back(length, length);
    tokens -= length;
  }
  return lengths;
}

void Attention(benchmark::State& state, const Shape& shape, bool backward) {
  Sequences queries, keys;
  std::int32_t query_rows = 0, key_rows = 0;
  double scores = 0;
  for (const auto& [query_count, key_count] : shape.lengths) {
    queries.push_back({query_rows, query_count});
    keys.push_back({key_rows, key_count});
    query_rows += query_count;
    key_rows += key_count;
    scores += double{1} * query_count * key_count;
  }
  const std::int64_t model = shape.heads * shape.head_dim, fused = 3 * model;
  const std::int64_t rows = std::max(query_rows, key_rows);
  Random random(2);
  const auto normal = [&](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(random.Normal());
    return values;
  };
  std::vector<float> projection = normal(rows * fused), output = normal(query_rows * model);
  std::vector<float> d_projection = normal(rows * fused), d_output = normal(query_rows * model);
  std::vector<float> log_sum_exp(static_cast<std::size_t>(query_rows * shape.heads));
  const auto part = [&](std::vector<float>& from, std::int64_t index, std::int32_t count) {
    return Matrix<float>{from.data() + index * model, count, model, fused};
  };
  AttentionInput<float> input;
  input.query = part(projection, 0, query_rows);
  input.key = part(projection, 1, key_rows);
  input.value = part(projection, 2, key_rows);
  input.queries = queries;
  input.keys = keys;
  input.heads = shape.heads;
  input.scale = 0.2f;
  input.causal = shape.causal;
  input.dropout.probability = shape.dropout;
  const Matrix<float> out{output.data(), query_rows, model, model};
  const Matrix<float> d_out{d_output.data(), query_rows, model, model};
  AttentionForward<float>(input, out, log_sum_exp);
  for (auto _ : state) {
    if (backward) {
      AttentionBackward<float>(input, out, d_out, log_sum_exp, {part(d_projection, 0, query_rows)},
                               {part(d_projection, 1, key_rows)}, {part(d_projection, 2, key_rows)});
    } else {
      AttentionForward<float>(input, out, log_sum_exp);
    }
  }
  const double products = (backward ? 5 : 2) * (shape.causal ? 0.5 : 1);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * products * scores * static_cast<double>(model),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  using Lengths = std::vector<std::pair<std::int32_t, std::int32_t>>;
  for (const Shape& shape :
       {Shape{"short 8x32", Short(4096), 8, 32, false, 0}, Shape{"short 8x32 dropout", Short(4096), 8, 32, false, 0.1},
        Shape{"short 8x64", Short(4096), 8, 64, false, 0}, Shape{"short 4x16", Short(4096), 4, 16, false, 0},
        Shape{"128 8x64", Lengths(16, {128, 128}), 8, 64, false, 0},
        Shape{"512 8x64 causal", Lengths(4, {512, 512}), 8, 64, true, 0},
        Shape{"4096 2x64", Lengths(1, {4096, 4096}), 2, 64, false, 0},
        Shape{"4096 1x64", Lengths(1, {4096, 4096}), 1, 64, false, 0},
        Shape{"4096 2x64 causal dropout", Lengths(1, {4096, 4096}), 2, 64, true, 0.1}}) {
    for (const bool backward : {false, true}) {
      benchmark::RegisterBenchmark((std::string(backward ? "backward " : "forward ") + shape.name).c_str(), Attention,
                                   shape, backward);
    }
  }
  for (const Shape& shape : {Shape{"decode 160x30 8x32", Lengths(160, {1, 30}), 8, 32, false, 0},
                             Shape{"decode 160x30 8x64", Lengths(160, {1, 30}), 8, 64, false, 0},
                             Shape{"decode 32x(5x30) 8x32", Lengths(32, {5, 30}), 8, 32, false, 0},
                             Shape{"decode 1x4096 32x128", Lengths(1, {1, 4096}), 32, 128, false, 0}}) {
    benchmark::RegisterBenchmark((std::string("forward ") + shape.name).c_str(), Attention, shape, false);
  }
  return true;
}();

}  // namespace
}  // namespace headlight::kernels

BENCHMARK_MAIN();
