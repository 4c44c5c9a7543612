// Checks that attention is bit-identical at any thread count, in any batch, in any chunks and over strided rows.
#include <cstring>

#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/kernels/attention.h"
#include "headlight/kernels/attention_testing.h"

namespace headlight::kernels::attention_bits_test {
namespace {

constexpr auto none = BiasKind::none, dense = BiasKind::dense, relative = BiasKind::relative;
constexpr auto shared_pairs = BiasKind::shared_pairs, indexed = BiasKind::indexed, computed = BiasKind::computed;
constexpr auto of_keys = BiasKind::of_keys;

template <typename T>
std::vector<T> Bits(AttentionProblem<T>& problem) {
  problem.Forward();
  std::vector<T> bits = problem.log_sum_exp;
  const auto append = [&](const TestMatrix<T>& matrix) {
    for (std::int64_t row = 0; row < matrix.view().rows; ++row) {
      bits.insert(bits.end(), matrix.view().row(row), matrix.view().row(row) + matrix.view().columns);
    }
  };
  append(problem.output);
  problem.Backward();
  append(problem.d_query);
  append(problem.d_key);
  append(problem.d_value);
  if (problem.bias) bits.insert(bits.end(), problem.bias->gradient.begin(), problem.bias->gradient.end());
  return bits;
}

// Covers a single long sequence, which is divided among threads, and cases that are not divided.
TEST(Attention, HasTheSameBitsAtAnyThreadCount) {
  const int before = Threads();
  for (const AttentionCase& c :
       {AttentionCase{"long", {{600, 600}}, 1, 16, 16, true, 0, none, 0.1},
        {"two heads", {{300, 200}}, 2, 16, 8},
        {"many", {{15, 15}, {20, 20}, {3, 3}, {200, 9}}, 4, 32, 32},
        {"bias", {{15, 15}, {20, 20}, {80, 80}}, 3, 8, 8, false, 0, relative},
        {"shared", {{15, 40}, {20, 40}, {80, 40}}, 3, 8, 8, false, 0, none, 0, true},
        {.name = "columns", .lengths = {{300, 300}, {20, 40}}, .interleaved = true},
        {.name = "groups", .lengths = {{300, 200}, {30, 9}}, .heads = 4, .key_heads = 2},
        {.name = "long, relative", .lengths = {{300, 200}, {30, 9}}, .bias = relative},
        {.name = "long, of keys", .lengths = {{300, 200}, {30, 9}}, .bias = of_keys},
        {.name = "long, dense", .lengths = {{300, 200}, {30, 9}}, .bias = dense},
        {.name = "table", .lengths = {{300, 200}, {30, 9}}, .heads = 2, .bias = indexed},
        {.name = "pairs of all", .lengths = std::vector(20, std::pair(70, 70)), .bias = shared_pairs},
        {.name = "capped", .lengths = {{300, 200}, {30, 9}}, .bias = relative, .score_cap = 0.8},
        {.name = "computed", .lengths = {{70, 70}, {90, 80}}, .heads = 2, .bias = computed}})
    for (const Compute compute : {Compute::float32, Compute::bfloat16}) {
      const auto bits_with = [&](int threads) {
        SetThreads(threads);
        AttentionProblem<float> problem(c);
        problem.input.compute = compute;
        return Bits(problem);
      };
      const std::vector<float> expected = bits_with(1);
      for (const int threads : {1, 2, 5, 16}) {
        const std::vector<float> bits = bits_with(threads);
        EXPECT_EQ(std::memcmp(bits.data(), expected.data(), bits.size() * sizeof(float)), 0)
            << c.name << ", " << Name(compute) << ", " << threads;
      }
    }
  SetThreads(before);
}

void ExpectBatchInvariance(const AttentionCase& batch, Compute compute) {
  AttentionProblem<float> together(batch);
  together.input.compute = compute;
  together.Forward();
  together.Backward();
  for (std::size_t b = 0; b < batch.lengths.size(); ++b) {
    AttentionProblem<float> alone(batch);
    alone.input.compute = compute;
    const Sequence queries = alone.rows.queries[b], keys = alone.rows.keys[b];
    alone.input.queries = {&queries, 1};
    alone.input.keys = {&keys, 1};
    alone.Forward();
    alone.Backward();
    const auto expect_same = [](const TestMatrix<float>& one, const TestMatrix<float>& other, Sequence rows) {
      for (std::int64_t row = rows.begin; row < rows.end(); ++row) {
        const std::size_t bytes = static_cast<std::size_t>(one.view().columns) * sizeof(float);
        EXPECT_EQ(std::memcmp(one.view().row(row), other.view().row(row), bytes), 0) << "row " << row;
      }
    };
    expect_same(together.output, alone.output, queries);
    expect_same(together.d_query, alone.d_query, queries);
    expect_same(together.d_key, alone.d_key, keys);
    expect_same(together.d_value, alone.d_value, keys);
  }
}

class BatchInvariance : public testing::TestWithParam<Compute> {};
INSTANTIATE_TEST_SUITE_P(Attention, BatchInvariance, testing::Values(Compute::float32, Compute::bfloat16),
                         [](const auto& compute) { return Name(compute.param); });

TEST_P(BatchInvariance, OfASentence) {
  AttentionCase batch{"", {{15, 15}, {200, 140}, {1, 33}, {20, 20}}, 2, 16, 16, true};
  for (const double cap : {0.0, 0.8}) {
    batch.score_cap = cap;
    ExpectBatchInvariance(batch, GetParam());
  }
}

void ExpectSameRows(const TestMatrix<float>& one, const TestMatrix<float>& other, Sequence rows,
                    const std::string& what) {
  const std::size_t bytes = static_cast<std::size_t>(one.view().columns) * sizeof(float);
  for (std::int64_t row = rows.begin; row < rows.end(); ++row)
    EXPECT_EQ(std::memcmp(one.view().row(row), other.view().row(row), bytes), 0) << what << ", row " << row;
}

// Checks that outputs for a text are bit-identical when computed at once, in chunks, or token by token with a cache.
TEST(Attention, QueryBitsDoNotDependOnOtherQueries) {
  ForEveryTarget([] {
    Random random(3);
    for (const AttentionCase& kind : std::vector<AttentionCase>{
             {.heads = 2, .head_dim = 24, .value_dim = 40},
             {.heads = 2, .head_dim = 7, .value_dim = 19, .bias = relative},
             {.heads = 2, .head_dim = 7, .value_dim = 19, .bias = of_keys},
             {.heads = 4, .head_dim = 64, .value_dim = 64, .indexed = true, .key_heads = 2},
             {.heads = 1, .head_dim = 32, .value_dim = 32, .window = 20},
             {.heads = 2, .head_dim = 7, .value_dim = 19, .bias = relative, .score_cap = 0.8},
             {.heads = 4, .head_dim = 24, .value_dim = 24, .indexed = true, .key_heads = 2, .score_cap = 0.8},
             {.heads = 2, .head_dim = 18, .value_dim = 33, .indexed = true, .mask = {.stride = 5, .prefix = 12}}})
      for (const auto& lengths : std::vector<std::pair<std::int32_t, std::int32_t>>{
               {1, 17}, {4, 4}, {4, 66}, {6, 33}, {70, 70}, {9, 300}, {131, 180}}) {
        const std::int32_t queries = lengths.first, keys = lengths.second;
        AttentionCase c = kind;
        c.causal = true;
        c.lengths = {{queries, keys}};
        AttentionProblem<float> whole(c), chunks(c), tokens(c);
        whole.Forward();
        const Sequence all = whole.rows.queries[0];
        const auto read = [&](AttentionProblem<float>& problem, const std::function<std::int32_t()>& count) {
          for (std::int32_t first = 0, some = 0; first < queries; first += some) {
            some = std::min(count(), queries - first);
            problem.rows.queries[0] = {all.begin + first, some};
            problem.rows.keys[0].length = keys - queries + first + some;
            problem.Forward();
          }
        };
        read(tokens, [] { return 1; });
        read(chunks, [&] { return 1 + static_cast<std::int32_t>(random.Below(9)); });
        const std::string what = fmt::format("{} queries, {} keys of {}", queries, keys, kind.head_dim);
        ExpectSameRows(whole.output, tokens.output, all, what + ", token by token");
        ExpectSameRows(whole.output, chunks.output, all, what + ", in chunks");
      }
  });
}

// Without sums of exponentials, the heads of a sequence with one query are computed together if they share keys.
TEST(Attention, HeadsThatShareKeysHaveTheSameBitsTogether) {
  const int before = Threads();
  ForEveryTarget([] {
    for (AttentionCase c : std::vector<AttentionCase>{
             {.heads = 4, .head_dim = 64, .value_dim = 64, .causal = true, .indexed = true, .key_heads = 1},
             {.heads = 14, .head_dim = 24, .value_dim = 40, .causal = true, .key_heads = 2},
             {.heads = 6, .head_dim = 32, .value_dim = 32, .causal = true, .window = 20, .key_heads = 2},
             {.heads = 6, .head_dim = 7, .value_dim = 19, .causal = true, .key_heads = 2, .score_cap = 0.8},
             {.heads = 4, .head_dim = 18, .value_dim = 33, .key_heads = 2, .mask = {.causal = true, .stride = 5}},
             {.heads = 6, .head_dim = 18, .value_dim = 33, .bias = relative, .key_heads = 2}}) {
      c.lengths = {{1, 200}, {1, 3}, {5, 70}, {1, 64}};
      AttentionProblem<float> separate(c);
      separate.Forward();
      for (const int threads : {1, 3, 16}) {
        SetThreads(threads);
        AttentionProblem<float> together(c);
        together.log_sum_exp.clear();
        together.Forward();
        for (const Sequence& rows : separate.rows.queries)
          ExpectSameRows(separate.output, together.output, rows, fmt::format("{} heads of {}", c.heads, c.head_dim));
      }
    }
  });
  SetThreads(before);
}

// Beams with the same source are computed together. Checks that each beam has the same bits as when it is computed
// separately, also in bfloat16.
TEST(Attention, SequenceBitsDoNotDependOnOthersWithSharedKeys) {
  for (const Compute compute : {Compute::float32, Compute::bfloat16})
    ForEveryTarget([compute] {
      for (const auto& [queries, cap] :
           std::vector<std::pair<std::int32_t, double>>{{1, 0}, {3, 0}, {1, 0.8}, {3, 0.8}})
        for (const std::size_t beams : {2, 4, 5, 70}) {
          const AttentionCase c{
              .lengths = {beams, {queries, 37}}, .heads = 2, .head_dim = 20, .shared_keys = true, .score_cap = cap};
          AttentionProblem<float> together(c), alone(c);
          together.input.compute = alone.input.compute = compute;
          together.Forward();
          for (const Sequence& own : alone.rows.queries) {
            alone.input.queries = {&own, 1};
            alone.input.keys = std::span(alone.rows.keys).first(1);
            alone.Forward();
            ExpectSameRows(together.output, alone.output, own, fmt::format("{} beams", beams));
          }
        }
    });
}

// Checks that the columns of a grid, read with a stride, produce the same bits as contiguous copies.
TEST(Attention, RowStrideDoesNotChangeBits) {
  const std::vector<std::pair<std::int32_t, std::int32_t>> lengths(3, {70, 70});
  AttentionProblem<float> packed({"", lengths, 2, 16, 8, true});
  AttentionProblem<float> columns(
      {.lengths = lengths, .heads = 2, .head_dim = 16, .value_dim = 8, .causal = true, .interleaved = true});
  const auto copy = [&](auto of, const Sequences& from, const Sequences& to) {
    for (std::size_t b = 0; b < lengths.size(); ++b)
      for (std::int32_t i = 0; i < from[b].length; ++i)
        std::copy_n((packed.*of).view().row(from[b].row(i)), (packed.*of).view().columns,
                    (columns.*of).view().row(to[b].row(i)));
  };
  using P = AttentionProblem<float>;
  for (const auto of : {&P::query, &P::d_output}) copy(of, packed.rows.queries, columns.rows.queries);
  for (const auto of : {&P::key, &P::value}) copy(of, packed.rows.keys, columns.rows.keys);
  for (P* const problem : {&packed, &columns}) {
    problem->Forward();
    problem->Backward();
  }
  const auto expect_same = [&](auto of, const Sequences& one, const Sequences& other) {
    for (std::size_t b = 0; b < lengths.size(); ++b)
      for (std::int32_t i = 0; i < one[b].length; ++i)
        EXPECT_EQ(std::memcmp((packed.*of).view().row(one[b].row(i)), (columns.*of).view().row(other[b].row(i)),
                              static_cast<std::size_t>((packed.*of).view().columns) * sizeof(float)),
                  0)
            << b << " " << i;
  };
  for (const auto of : {&P::output, &P::d_query}) expect_same(of, packed.rows.queries, columns.rows.queries);
  for (const auto of : {&P::d_key, &P::d_value}) expect_same(of, packed.rows.keys, columns.rows.keys);
}

}  // namespace
}  // namespace headlight::kernels::attention_bits_test
