// Measures attention in typical shapes: training on short sequences, decoding, long sequences. GFLOP/s count the
// operations of plain matrix products, 2 forward and 5 backward. With a causal mask, half of the operations count.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/base/storage.h"
#include "headlight/kernels/attention.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/softmax.h"

namespace headlight::kernels {
namespace {

struct Shape {
  const char* name;
  std::vector<std::pair<std::int32_t, std::int32_t>> lengths;
  std::int32_t heads = 8, head_dim = 32;
  bool causal = false;
  double dropout = 0;
  std::int32_t key_heads = 0;
  bool columns = false;  // if true, sequences are the columns of a grid
  AttentionMask mask = {};
  std::optional<BiasIndexing> bias = {};  // bias that all sequences share; its gradient is also computed
  float score_cap = 0;
};

// Returns the lengths of sequences of 5 to 25 tokens, with about `tokens` tokens in total.
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

// The tensors of a case. Queries, keys and values are adjacent columns, as in a fused projection.
struct Problem {
  explicit Problem(const Shape& shape)
      : heads(shape.heads), key_heads(shape.key_heads), model(shape.heads * shape.head_dim) {
    for (const auto& [query_count, key_count] : shape.lengths) {
      queries.push_back({query_rows, query_count});
      keys.push_back({key_rows, key_count});
      query_rows += query_count;
      key_rows += key_count;
      scores += double{1} * query_count * key_count;
    }
    if (shape.columns) queries = keys = GridColumns(1, queries[0].length, static_cast<std::int32_t>(queries.size()));
    Random random(2);
    const auto random_numbers = [&](std::int64_t count) {  // uses AllocateStorage, as tensors do, to get large pages
      std::shared_ptr<float> values =
          std::reinterpret_pointer_cast<float>(AllocateStorage(count * std::int64_t{sizeof(float)}));
      for (std::int64_t i = 0; i < count; ++i) values.get()[i] = static_cast<float>(random.Uniform() - 0.5);
      return values;
    };
    const std::int64_t rows = std::max(query_rows, key_rows);
    projection = random_numbers(rows * 3 * model);
    d_projection = random_numbers(rows * 3 * model);
    output = random_numbers(query_rows * model);
    d_output = random_numbers(query_rows * model);
    log_sum_exp.resize(static_cast<std::size_t>(query_rows * heads));
    input.query = Part(projection, 0);
    input.key = Part(projection, 1);
    input.value = Part(projection, 2);
    input.queries = queries;
    input.keys = keys;
    input.heads = heads;
    input.key_heads = shape.key_heads;
    input.scale = 0.2f;
    input.score_cap = shape.score_cap;
    input.mask = shape.mask;
    input.mask.causal = shape.causal || shape.mask.causal;
    input.dropout.probability = shape.dropout;
    if (shape.bias) {
      const std::int64_t pairs = std::int64_t{queries[0].length} * keys[0].length;
      if (*shape.bias == BiasIndexing::distances) bias_index.resize(257);
      if (*shape.bias == BiasIndexing::table) bias_index.resize(static_cast<std::size_t>(pairs));
      const std::int64_t places = *shape.bias == BiasIndexing::pairs ? pairs : 169;
      for (std::size_t i = 0; i < bias_index.size(); ++i) bias_index[i] = static_cast<std::int32_t>(i % 169);
      bias.resize(static_cast<std::size_t>(places * heads));
      d_bias.resize(bias.size());
      input.bias = {.values = {bias.data(), places, heads, heads},
                    .by = *shape.bias,
                    .index = bias_index,
                    .d_values = {d_bias.data(), places, heads, heads}};
    }
  }
  // Returns the columns of the queries (index 0), keys (1) or values (2).
  Matrix<float> Part(const std::shared_ptr<float>& from, std::int64_t index) const {
    const std::int64_t columns = index > 0 && key_heads > 0 ? model / heads * key_heads : model;
    return {from.get() + index * model, index == 0 ? query_rows : key_rows, columns, 3 * model};
  }
  Matrix<float> Output(const std::shared_ptr<float>& of) const { return {of.get(), query_rows, model, model}; }
  void Forward() { AttentionForward<float>(input, Output(output), log_sum_exp); }
  void Backward() {
    AttentionBackward<float>(input, Output(output), Output(d_output), log_sum_exp, {Part(d_projection, 0)},
                             {Part(d_projection, 1)}, {Part(d_projection, 2)});
  }
  void Report(benchmark::State& state, int products) const {
    const double operations = 2.0 * products * (input.mask.causal ? 0.5 : 1) * scores * static_cast<double>(model);
    state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * operations, benchmark::Counter::kIsIterationInvariantRate);
  }

  std::int32_t heads, key_heads;
  std::int64_t model;
  Sequences queries, keys;
  std::int32_t query_rows = 0, key_rows = 0;
  double scores = 0;  // number of scores of one head
  std::shared_ptr<float> projection, d_projection, output, d_output;
  std::vector<float> log_sum_exp, bias, d_bias;
  std::vector<std::int32_t> bias_index;
  AttentionInput<float> input;
};

void Attention(benchmark::State& state, const Shape& shape, bool backward, Compute compute) {
  Problem problem(shape);
  problem.input.compute = compute;
  problem.Forward();
  for (auto _ : state) backward ? problem.Backward() : problem.Forward();
  problem.Report(state, backward ? 5 : 2);
}

// Measures decoding: one new token per text, with keys in a cache.
void WithCache(benchmark::State& state, const Shape& shape, CacheType type) {
  Problem problem(shape);
  const std::int32_t heads = shape.key_heads > 0 ? shape.key_heads : shape.heads;
  const std::int64_t entry = EntryBytes<float>(type, shape.head_dim);
  const std::int64_t blocks = (problem.key_rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t block_bytes = kBlockRows * heads * entry + kBlockPadding;
  std::vector<const std::byte*> addresses[2];
  std::vector<std::byte> memory[2];
  for (const std::int64_t index : {0, 1}) {
    memory[index].resize(static_cast<std::size_t>(blocks * block_bytes));
    for (std::int64_t block = 0; block < blocks; ++block)
      addresses[index].push_back(memory[index].data() + block * block_bytes);
    const Matrix<float> from = problem.Part(problem.projection, index + 1);
    for (std::int64_t row = 0; row < from.rows; ++row)
      for (std::int64_t head = 0; head < heads; ++head)
        WriteEntry(type, from.row(row) + head * shape.head_dim, shape.head_dim,
                   memory[index].data() + row / kBlockRows * block_bytes + EntryOffset(row, head, entry));
  }
  std::vector<std::int32_t> rows(static_cast<std::size_t>(problem.key_rows));
  std::iota(rows.begin(), rows.end(), 0);
  problem.input.key_rows = rows;
  problem.input.key_blocks = addresses[0];
  problem.input.value_blocks = addresses[1];
  problem.input.cache_type = type;
  const auto forward = [&] { AttentionForward<float>(problem.input, problem.Output(problem.output), {}); };
  forward();
  for (auto _ : state) forward();
  problem.Report(state, 2);
}

// Measures attention as separate operations for comparison: product, softmax and product per sequence and head. The
// weights are kept for the gradient.
void SeparateOperations(benchmark::State& state, const Shape& shape, bool backward) {
  Problem problem(shape);
  const std::int32_t heads = shape.heads, dim = shape.head_dim;
  std::vector<std::vector<float>> weights(problem.queries.size() * static_cast<std::size_t>(heads)), d_scores(weights);
  const auto for_heads = [&](const auto& body) {
    ParallelFor(static_cast<std::int64_t>(weights.size()), [&](std::int64_t index) {
      const auto place = static_cast<std::size_t>(index);
      const Sequence queries = problem.queries[place / heads], keys = problem.keys[place / heads];
      const std::int64_t size = std::int64_t{queries.length} * keys.length;
      weights[place].resize(static_cast<std::size_t>(size));
      d_scores[place].resize(static_cast<std::size_t>(backward ? size : 0));
      const auto matrix = [&](std::vector<float>& from) {
        return Matrix<float>{from.data(), queries.length, keys.length, keys.length};
      };
      const auto part = [&, column = index % heads * dim](const Matrix<float>& of, const Sequence& rows) {
        return of.Rows(rows.begin, rows.length).Columns(column, dim);
      };
      body(queries, keys, matrix(weights[place]), matrix(d_scores[place]), part);
    });
  };
  // Computes to = a b^T if `transposed` is true, otherwise to = a b.
  const auto multiply = [](Matrix<const float> a, Matrix<const float> b, bool transposed, Matrix<float> to) {
    PackedMatrix<float> packed(transposed ? b.columns : b.rows, transposed ? b.rows : b.columns, Compute::float32);
    packed.Pack(b, transposed);
    Gemm<float>(a, packed, to);
  };
  const auto scale = [](Matrix<float> scores) {
    for (std::int64_t i = 0; i < scores.rows * scores.columns; ++i) scores.data[i] *= 0.2f;
  };
  const auto multiply_transposed = [](Matrix<const float> a, Matrix<const float> b, Matrix<float> to) {
    for (std::int64_t row = 0; row < to.rows; ++row) std::fill_n(to.row(row), to.columns, 0.0f);
    GemmTransposed<float>(a, b, to, Compute::float32);
  };
  const Matrix<float> query = problem.Part(problem.projection, 0), key = problem.Part(problem.projection, 1);
  const Matrix<float> value = problem.Part(problem.projection, 2), output = problem.Output(problem.output);
  const Matrix<float> d_query = problem.Part(problem.d_projection, 0), d_key = problem.Part(problem.d_projection, 1);
  const Matrix<float> d_value = problem.Part(problem.d_projection, 2), d_output = problem.Output(problem.d_output);
  const auto forward = [&] {
    for_heads([&](const Sequence& q, const Sequence& k, Matrix<float> its_weights, Matrix<float>, const auto& part) {
      multiply(part(query, q), part(key, k), true, its_weights);
      scale(its_weights);
      SoftmaxRows<float>(its_weights, its_weights);
      multiply(its_weights, part(value, k), false, part(output, q));
    });
  };
  const auto back = [&] {
    for_heads([&](const Sequence& q, const Sequence& k, Matrix<float> its_weights, Matrix<float> its_d_scores,
                  const auto& part) {
      multiply_transposed(its_weights, part(d_output, q), part(d_value, k));
      multiply(part(d_output, q), part(value, k), true, its_d_scores);
      SoftmaxRowsGradient<float>(its_weights, its_d_scores, its_d_scores);
      scale(its_d_scores);
      multiply(its_d_scores, part(key, k), false, part(d_query, q));
      multiply_transposed(its_d_scores, part(query, q), part(d_key, k));
    });
  };
  forward();
  for (auto _ : state) backward ? back() : forward();
  problem.Report(state, backward ? 5 : 2);
}

// Measures one forward and backward pass. Reports the growth of memory relative to the size of a matrix of scores. Run
// one case per process, because memory that was used before does not count as growth.
void Long(benchmark::State& state, std::int32_t tokens) {
  Problem problem({"", {{tokens, tokens}}, 8, 32, false, 0});
  const auto megabytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
  };
  const double before = megabytes();
  for (auto _ : state) {
    problem.Forward();
    problem.Backward();
  }
  problem.Report(state, 7);
  state.counters["grown_MB"] = megabytes() - before;
  state.counters["scores_MB"] = 8 * problem.scores * sizeof(float) / (1 << 20);
}

const bool registered = [] {
  using Lengths = std::vector<std::pair<std::int32_t, std::int32_t>>;
  for (const Shape& shape :
       {Shape{"short 8x32", Short(4096), 8, 32, false, 0}, Shape{"short 8x32 dropout", Short(4096), 8, 32, false, 0.1},
        Shape{"short 8x64", Short(4096), 8, 64, false, 0}, Shape{"short 4x16", Short(4096), 4, 16, false, 0},
        Shape{"65 3x64", Lengths(32, {65, 65}), 3, 64, false, 0},
        Shape{"128 8x64", Lengths(16, {128, 128}), 8, 64, false, 0},
        Shape{"512 8x64 causal", Lengths(4, {512, 512}), 8, 64, true, 0},
        Shape{.name = "512 8x64 causal, capped",
        .lengths = Lengths(4, {512, 512}),
        .head_dim = 64,
        .causal = true,
        .score_cap = 50},
        Shape{"4096 2x64", Lengths(1, {4096, 4096}), 2, 64, false, 0},
        Shape{"4096 1x64", Lengths(1, {4096, 4096}), 1, 64, false, 0},
        Shape{"4096 2x64 causal dropout", Lengths(1, {4096, 4096}), 2, 64, true, 0.1},
        Shape{.name = "grid 128x128 4x32, columns", .lengths = Lengths(128, {128, 128}), .heads = 4, .columns = true},
        Shape{.name = "512 8x64 causal, 2 key heads",
        .lengths = Lengths(4, {512, 512}),
        .head_dim = 64,
        .causal = true,
        .key_heads = 2},
        Shape{.name = "4096 2x64, 256 nearest",
        .lengths = Lengths(1, {4096, 4096}),
        .heads = 2,
        .head_dim = 64,
        .mask = {.left = 128, .right = 127}},
        Shape{.name = "4096 2x64, blocks of 256",
        .lengths = Lengths(1, {4096, 4096}),
        .heads = 2,
        .head_dim = 64,
        .mask = {.block = 256}},
        Shape{.name = "16384 1x64, columns of 512",
        .lengths = Lengths(1, {16384, 16384}),
        .heads = 1,
        .head_dim = 64,
        .mask = {.stride = 512}},
        // DALL-E's attention: 65 text tokens, then 32 x 32 image tokens. The cases are: no mask, and masks of rows,
        // columns and squares. For columns, nn/grid_attention.h uses the row mask on the transposed image. A query
        // attends to 545, 79, 79 and 84 keys on average.
        Shape{.name = "65 + 32x32 12x64, all",
        .lengths = Lengths(1, {1089, 1089}),
        .heads = 12,
        .head_dim = 64,
        .mask = {.causal = true, .prefix = 65}},
        Shape{.name = "65 + 32x32 12x64, rows",
        .lengths = Lengths(1, {1089, 1089}),
        .heads = 12,
        .head_dim = 64,
        .mask = {.causal = true, .block = 32, .prefix = 65}},
        Shape{.name = "65 + 32x32 12x64, columns in place",
        .lengths = Lengths(1, {1089, 1089}),
        .heads = 12,
        .head_dim = 64,
        .mask = {.causal = true, .stride = 32, .prefix = 65}},
        Shape{.name = "65 + 32x32 12x64, squares of 5",
        .lengths = Lengths(1, {1089, 1089}),
        .heads = 12,
        .head_dim = 64,
        .mask = {.causal = true, .window = 5, .width = 32, .prefix = 65}},
        Shape{.name = "512 8x64, distances",
        .lengths = Lengths(4, {512, 512}),
        .head_dim = 64,
        .bias = BiasIndexing::distances},
        Shape{.name = "windows of 49 8x32, table", .lengths = Lengths(128, {49, 49}), .bias = BiasIndexing::table},
        Shape{.name = "rows of 128 8x32, pairs", .lengths = Lengths(64, {128, 128}), .bias = BiasIndexing::pairs}}) {
    for (const bool backward : {false, true}) {
      const std::string name = std::string(backward ? "backward " : "forward ") + shape.name;
      benchmark::RegisterBenchmark(name.c_str(), Attention, shape, backward, Compute::float32)->UseRealTime();
      if (CpuHasBfloat16())
        benchmark::RegisterBenchmark((name + ", bfloat16").c_str(), Attention, shape, backward, Compute::bfloat16)
            ->UseRealTime();
      if (!shape.causal && shape.dropout == 0 && !shape.columns && shape.mask == AttentionMask{} && !shape.bias &&
          shape.key_heads == 0)
        benchmark::RegisterBenchmark((name + ", separate operations").c_str(), SeparateOperations, shape, backward)
            ->UseRealTime();
    }
  }
  for (const Shape& shape : {Shape{"decode 160x30 8x32", Lengths(160, {1, 30}), 8, 32, false, 0},
                             Shape{"decode 160x30 8x64", Lengths(160, {1, 30}), 8, 64, false, 0},
                             Shape{"decode 32x(5x30) 8x32", Lengths(32, {5, 30}), 8, 32, false, 0},
                             Shape{"decode 1x4096 32x128", Lengths(1, {1, 4096}), 32, 128, false, 0},
                             Shape{"decode 32x512 4x256, 1 key head", Lengths(32, {1, 512}), 4, 256, false, 0, 1},
                             Shape{"decode 16x512 32x64, 8 key heads", Lengths(16, {1, 512}), 32, 64, false, 0, 8},
                             Shape{"decode 1x4096 32x128, 8 key heads", Lengths(1, {1, 4096}), 32, 128, false, 0, 8},
                             Shape{.name = "decode 1x4096 32x128 capped",
                             .lengths = Lengths(1, {1, 4096}),
                             .heads = 32,
                             .head_dim = 128,
                             .score_cap = 50}}) {
    benchmark::RegisterBenchmark((std::string("forward ") + shape.name).c_str(), Attention, shape, false,
                                 Compute::float32)
        ->UseRealTime();
    for (const CacheType type : {CacheType::unrounded, CacheType::bfloat16, CacheType::int8})
      benchmark::RegisterBenchmark(fmt::format("forward {}, {} cache", shape.name, Name(type)).c_str(), WithCache,
                                   shape, type)
          ->UseRealTime();
  }
  for (const std::int32_t tokens : {2048, 4096, 8192, 16384, 32768})
    benchmark::RegisterBenchmark(("long " + std::to_string(tokens) + " 8x32").c_str(), Long, tokens)
        ->UseRealTime()
        ->Iterations(1);
  return true;
}();

}  // namespace
}  // namespace headlight::kernels

BENCHMARK_MAIN();
