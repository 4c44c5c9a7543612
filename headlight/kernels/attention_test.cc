#include "headlight/kernels/attention.h"

#include <cstring>
#include <functional>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/kernels/attention_testing.h"
#include "headlight/kernels/cpu.h"

namespace headlight::kernels::attention_test {
namespace {

constexpr auto none = BiasKind::none, dense = BiasKind::dense, relative = BiasKind::relative;
constexpr auto shared_pairs = BiasKind::shared_pairs, indexed = BiasKind::indexed, computed = BiasKind::computed;
constexpr auto of_keys = BiasKind::of_keys;

std::vector<AttentionCase> Cases() {
  std::vector<AttentionCase> cases = {
      {"one of each", {{1, 1}}, 1, 1, 1},
      {"lengths around a vector", {{3, 3}, {4, 4}, {7, 8}, {9, 9}, {15, 15}, {16, 16}, {17, 17}}, 2, 8, 8},
      {"no keys, no queries", {{3, 0}, {0, 3}, {0, 0}, {2, 2}}, 2, 4, 4},
      {"odd head_dim", {{5, 6}, {12, 11}}, 3, 5, 7},
      {"head_dim 16", {{15, 14}, {20, 33}}, 2, 16, 16},
      {"head_dim 32", {{15, 14}, {2, 31}, {1, 20}}, 4, 32, 32},
      {"head_dim 64, value_dim 24", {{15, 14}, {1, 5}}, 2, 64, 24},
      {"head_dim 100, value_dim 1", {{9, 10}, {1, 10}}, 1, 100, 1},
      {"causal", {{1, 1}, {2, 2}, {15, 15}, {70, 70}}, 2, 8, 8, true},
      {"causal behind a cache", {{1, 20}, {2, 9}, {5, 150}}, 2, 9, 8, true},
      {"causal with one query each", {{1, 20}, {1, 1}, {1, 130}, {1, 0}}, 2, 9, 8, true},
      {"causal with more queries than keys", {{9, 4}, {80, 10}}, 1, 4, 4, true},
      {"window", {{30, 30}, {200, 200}}, 1, 8, 8, false, 5},
      {"causal window", {{40, 40}, {150, 290}, {1, 300}}, 1, 8, 8, true, 70},
      {"window beyond the keys", {{40, 3}}, 1, 4, 4, false, 4},
      {"more than a tile", {{65, 129}, {130, 64}, {64, 128}, {300, 301}}, 2, 16, 8},
      {"more than a tile, causal", {{129, 129}, {310, 310}}, 1, 32, 32, true},
      {"one query, many keys", {{1, 300}, {2, 517}}, 2, 33, 19},
      {"dense bias", {{7, 7}, {15, 20}, {70, 140}, {1, 9}}, 2, 8, 8, false, 0, dense},
      {"relative bias, causal", {{7, 7}, {16, 16}, {131, 131}}, 2, 8, 8, true, 0, relative},
      {"dropout", {{7, 7}, {15, 20}, {1, 12}, {100, 140}}, 2, 8, 8, false, 0, none, 0.3},
      {"bias of keys, causal", {{7, 7}, {16, 20}, {131, 131}}, 2, 8, 8, true, 0, of_keys},
      {"dropout, causal, bias", {{20, 20}, {90, 90}}, 2, 8, 8, true, 0, relative, 0.5},
      {"shared keys", {{1, 33}, {5, 33}, {20, 33}}, 2, 8, 8, false, 0, none, 0, true},
      {"shared keys, bias, dropout", {{3, 70}, {5, 70}}, 2, 8, 8, false, 0, dense, 0.2, true},
      {"beams", {{1, 33}, {1, 33}, {1, 33}, {1, 33}, {2, 33}}, 2, 8, 8, false, 0, none, 0, true},
      {"indexed keys", {{1, 33}, {2, 5}, {20, 130}}, 2, 8, 8, true, 0, none, 0, false, true},
      {"indexed shared keys", {{1, 33}, {1, 33}, {4, 33}}, 2, 8, 8, false, 0, none, 0, true, true},
      {.name = "columns", .lengths = {{9, 20}, {70, 130}, {0, 4}, {3, 65}}, .heads = 2, .interleaved = true},
      {.name = "columns, causal", .lengths = {{33, 33}, {33, 33}}, .causal = true, .dropout = 0.2, .interleaved = true},
      {.name = "groups", .lengths = {{20, 20}, {1, 30}, {70, 130}}, .heads = 4, .head_dim = 5, .key_heads = 2},
      {.name = "one key head",
       .lengths = {{66, 66}, {3, 9}},
       .heads = 3,
       .causal = true,
       .dropout = 0.2,
       .key_heads = 1},
      {.name = "groups, shared", .lengths = {{5, 33}, {20, 33}}, .heads = 4, .shared_keys = true, .key_heads = 2},
      {.name = "band", .lengths = {{200, 200}, {5, 90}}, .mask = {.left = 70, .right = 3}},
      {.name = "band to the left", .lengths = {{150, 150}}, .bias = dense, .dropout = 0.1, .mask = {.left = 9}},
      {.name = "blocks", .lengths = {{200, 200}, {3, 90}}, .heads = 2, .mask = {.block = 33}},
      {.name = "columns of a grid", .lengths = {{300, 300}, {2, 70}}, .heads = 2, .mask = {.stride = 150}},
      {.name = "rows after a text",
       .lengths = {{150, 150}},
       .heads = 2,
       .mask = {.causal = true, .block = 9, .prefix = 70}},
      {.name = "columns after a text", .lengths = {{150, 150}}, .mask = {.causal = true, .stride = 9, .prefix = 70}},
      {.name = "squares after a text",
       .lengths = {{200, 200}, {3, 160}},
       .heads = 2,
       .dropout = 0.1,
       .mask = {.causal = true, .window = 4, .width = 11, .prefix = 9}},
      {.name = "narrow stride", .lengths = {{70, 140}, {9, 3}}, .mask = {.causal = true, .left = 40, .stride = 3}},
      {.name = "pairs of all", .lengths = {{70, 140}, {70, 140}, {70, 140}}, .heads = 3, .bias = shared_pairs},
      {.name = "a table", .lengths = {{70, 140}, {9, 9}, {2, 65}}, .heads = 2, .causal = true, .bias = indexed},
      {.name = "computed", .lengths = {{70, 140}, {9, 9}, {2, 65}}, .heads = 2, .bias = computed, .dropout = 0.1},
      {.name = "groups, relative", .lengths = {{140, 200}, {9, 9}}, .heads = 4, .bias = relative, .key_heads = 2},
      {.name = "absent keys", .lengths = {{5, 9}, {70, 140}, {1, 30}, {9, 9}}, .heads = 2, .absent = true},
      {.name = "absent keys, pairs of all",
       .lengths = {{70, 140}, {70, 140}},
       .heads = 3,
       .bias = shared_pairs,
       .dropout = 0.1,
       .absent = true},
      {.name = "absent keys of columns",
       .lengths = {{9, 20}, {70, 130}, {3, 65}},
       .heads = 2,
       .interleaved = true,
       .absent = true},
      {.name = "absent indexed keys", .lengths = {{1, 33}, {20, 130}}, .heads = 2, .indexed = true, .absent = true},
      {.name = "groups, indexed", .lengths = {{1, 33}, {20, 130}}, .heads = 6, .indexed = true, .key_heads = 3},
  };
  for (std::size_t i = 0, plain = cases.size(); i < plain; ++i) {
    AttentionCase capped = cases[i];
    capped.name += ", capped";
    capped.score_cap = 0.8;  // half of the scores are below the cap
    cases.push_back(capped);
  }
  return cases;
}

template <typename T>
double ToleranceOf(const std::vector<double>& expected) {
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  return 2 * Tolerance<T>() * largest;
}

// Returns a message with the largest difference, or an empty string if all differences are within the tolerance.
template <typename T>
std::string Difference(const char* what, const std::vector<double>& expected, Matrix<const T> got,
                       std::span<const Sequence> rows) {
  const double tolerance = ToleranceOf<T>(expected);
  double worst = 0;
  std::string sentence;
  for (const Sequence& sequence : rows) {
    for (std::int64_t row = sequence.begin; row < sequence.end(); row += sequence.step) {
      for (std::int64_t column = 0; column < got.columns; ++column) {
        const double wanted = expected[static_cast<std::size_t>(row * got.columns + column)];
        const double difference = std::abs(got.row(row)[column] - wanted);
        if (difference <= worst || difference <= tolerance) {
          if (!std::isnan(difference)) continue;
        }
        worst = difference;
        sentence = fmt::format("{}[{}, {}] is {} instead of {}; ", what, row, column, got.row(row)[column], wanted);
      }
    }
  }
  return sentence;
}

// Returns the differences between the kernels and the reference for a case, or an empty string if there are none.
template <typename T>
std::string Wrong(const AttentionCase& c, double defect = 0) {
  AttentionProblem<T> problem(c);
  const Reference reference = ReferenceAttention(problem);
  problem.Forward();
  std::string wrong = Difference<T>("output", reference.output, problem.output.view(), problem.rows.queries);
  for (std::size_t b = 0; b < c.lengths.size(); ++b) {
    std::vector<T> weights(reference.weights[b].size());
    if (weights.empty()) continue;
    AttentionWeights<T>(problem.input, static_cast<std::int32_t>(b), weights);
    const std::int64_t keys = problem.rows.keys[b].length;
    const std::int32_t rows = static_cast<std::int32_t>(static_cast<std::int64_t>(weights.size()) / keys);
    wrong += Difference<T>("weights", reference.weights[b], {weights.data(), rows, keys, keys},
                           std::vector<Sequence>{{0, rows}});
  }
  if (c.indexed) return wrong;
  for (const bool add : {false, true}) {  // the second call adds to the first result, doubling the gradient
    problem.Backward(add);
    const auto check = [&](const char* what, std::vector<double> expected, TestMatrix<T>& got) {
      if (add) std::ranges::for_each(expected, [](double& value) { value *= 2; });
      if (defect != 0) got.at(got.view().rows / 2, 0) *= static_cast<T>(1 + defect);
      wrong += Difference<T>(what, expected, got.view(),
                             std::vector<Sequence>{{0, static_cast<std::int32_t>(got.view().rows)}});
    };
    check("d_query", reference.d_query, problem.d_query);
    check("d_key", reference.d_key, problem.d_key);
    check("d_value", reference.d_value, problem.d_value);
    if (problem.bias) {
      const std::int64_t count = static_cast<std::int64_t>(reference.d_bias.size());
      wrong += Difference<T>("d_bias", reference.d_bias, {problem.bias->gradient.data(), 1, count, count},
                             std::vector<Sequence>{{0, 1}});
    }
  }
  return wrong;
}

TEST(Attention, MatchesTheDefinitionOnEveryTarget) {
  for (const AttentionCase& c : Cases()) {
    ForEveryTarget([&] {
      EXPECT_EQ(Wrong<float>(c), "") << c.name;
      EXPECT_EQ(Wrong<double>(c), "") << c.name;
    });
  }
}

TEST(Attention, DetectsAWrongGradient) {
  const AttentionCase c{"", {{7, 7}, {15, 20}}, 2, 8, 8};
  EXPECT_NE(Wrong<float>(c, 1e-3), "");
  EXPECT_NE(Wrong<double>(c, 1e-9), "");
}

// Returns the sum of d_output * output, the loss whose gradients AttentionBackward computes.
double Loss(AttentionProblem<double>& problem) {
  problem.Forward();
  return WeightedSum(problem.d_output, problem.output);
}

// Returns the largest relative difference between gradients and finite differences.
double WorstGradient(const AttentionCase& c, double defect = 0) {
  AttentionProblem<double> problem(c);
  for (TestMatrix<double>* rows : {&problem.output, &problem.d_output}) {  // rows outside all sequences
    for (std::int64_t column = 0; column < rows->view().columns; ++column) {
      for (const std::int64_t row : {0, 1, problem.rows.query_rows - 1}) rows->at(row, column) = 0;
    }
  }
  problem.Forward();
  problem.Backward();
  problem.d_key.at(problem.rows.keys[0].begin, 0) *= 1 + defect;
  double worst = 0;
  const auto check = [&](double gradient, double& x) {
    const double expected = Derivative(x, [&] { return Loss(problem); });
    worst = std::max(worst, std::abs(gradient - expected) / std::max(1.0, std::abs(expected)));
  };
  const auto check_all = [&](TestMatrix<double>& gradient, TestMatrix<double>& x) {
    for (std::int64_t row = 0; row < x.view().rows; ++row) {
      for (std::int64_t column = 0; column < x.view().columns; ++column) {
        check(gradient.at(row, column), x.at(row, column));
      }
    }
  };
  check_all(problem.d_query, problem.query);
  check_all(problem.d_key, problem.key);
  check_all(problem.d_value, problem.value);
  if (problem.bias) {
    for (std::size_t i = 0; i < problem.bias->values.size(); ++i) {
      check(problem.bias->gradient[i], problem.bias->values[i]);
    }
  }
  return worst;
}

TEST(Attention, GradientsMatchFiniteDifferences) {
  const std::vector<AttentionCase> cases = {
      {"plain", {{3, 4}, {1, 2}, {2, 0}}, 2, 3, 2},
      {"causal", {{5, 5}, {2, 4}, {3, 2}}, 1, 3, 4, true},
      {"window", {{6, 6}}, 1, 2, 2, false, 2},
      {"bias", {{3, 4}, {4, 4}}, 2, 3, 2, false, 0, relative},
      {"bias of keys", {{3, 4}, {4, 3}}, 2, 3, 2, false, 0, of_keys},
      {"dropout", {{6, 5}, {3, 7}}, 2, 3, 2, false, 0, none, 0.4},
      {"shared", {{2, 4}, {3, 4}}, 1, 3, 2, false, 0, dense, 0.2, true},
      {.name = "columns", .lengths = {{3, 4}, {3, 4}}, .heads = 2, .causal = true, .interleaved = true},
      {.name = "groups", .lengths = {{3, 4}, {2, 5}}, .heads = 4, .head_dim = 2, .bias = relative, .key_heads = 2},
      {.name = "pairs of all", .lengths = {{3, 4}, {3, 4}}, .heads = 2, .head_dim = 3, .bias = shared_pairs},
      {.name = "a table", .lengths = {{3, 4}, {2, 2}}, .heads = 2, .head_dim = 3, .bias = indexed},
      {.name = "computed", .lengths = {{3, 4}, {2, 2}}, .heads = 2, .head_dim = 3, .bias = computed},
      {.name = "band", .lengths = {{6, 7}}, .head_dim = 3, .mask = {.left = 2, .right = 1}},
      {.name = "blocks, stride", .lengths = {{9, 9}}, .head_dim = 3, .mask = {.block = 6, .stride = 2}},
      {.name = "squares after a text",
       .lengths = {{11, 11}},
       .head_dim = 3,
       .mask = {.causal = true, .window = 2, .width = 3, .prefix = 2}},
  };
  for (AttentionCase c : cases)
    for (const double cap : {0.0, 0.8}) {
      c.score_cap = cap;
      EXPECT_LT(WorstGradient(c), 1e-8) << c.name << ", capped at " << cap;
    }
  EXPECT_GT(WorstGradient(cases[0], 1e-4), 1e-6);
}

// Returns the largest difference relative to the scale of the expected values.
double WorstByScale(const std::vector<double>& expected, const Matrix<const float>& got) {
  double worst = 0, scale = 1;
  for (std::int64_t row = 0; row < got.rows; ++row)
    for (std::int64_t column = 0; column < got.columns; ++column) {
      const double wanted = expected[static_cast<std::size_t>(row * got.columns + column)];
      const double difference = std::abs(got.row(row)[column] - wanted);
      worst = std::isnan(difference) ? 1e9 : std::max(worst, difference);
      scale = std::max(scale, std::abs(wanted));
    }
  return worst / scale;
}

// Rounding changes each operand by up to 2^-9 of its magnitude. The tolerance allows a few such errors.
TEST(Attention, Bfloat16IsCloseToTheDefinition) {
  if (!CpuHasBfloat16()) GTEST_SKIP() << "this processor has no bfloat16";
  std::vector<AttentionCase> cases = Cases();
  cases.push_back({.name = "long, wide", .lengths = {{600, 700}, {33, 257}}, .head_dim = 72, .value_dim = 130});
  cases.push_back({.name = "long, causal", .lengths = {{600, 600}}, .head_dim = 64, .value_dim = 64, .causal = true});
  for (const AttentionCase& c : cases) {
    AttentionProblem<float> problem(c);
    problem.input.compute = Compute::bfloat16;
    for (std::int32_t row = 0; row < problem.output.view().rows; ++row)  // rows outside all sequences are not written
      std::fill_n(problem.output.view().row(row), problem.output.view().columns, 0.0F);
    problem.Forward();
    const Reference reference = ReferenceAttention(problem);
    const bool none_visible = c.absent && c.interleaved;  // the only long sequence has no visible keys
    const bool rounds = !c.indexed && !none_visible && std::ranges::any_of(c.lengths, [](const auto& length) {
      return length.first >= kLeastRounded && length.second > 0;
    });
    const auto check = [&](const char* what, const std::vector<double>& expected, const Matrix<const float>& got) {
      const double worst = WorstByScale(expected, got);
      EXPECT_LT(worst, 0.02) << what << " of " << c.name;
      EXPECT_TRUE(worst > 1e-4 || !rounds) << what << " of " << c.name;
    };
    check("output", reference.output, problem.output.view());
    if (c.indexed) continue;
    problem.Backward();
    check("d_query", reference.d_query, problem.d_query.view());
    check("d_key", reference.d_key, problem.d_key.view());
    check("d_value", reference.d_value, problem.d_value.view());
    const auto places = static_cast<std::int64_t>(reference.d_bias.size());
    if (problem.bias) check("d_bias", reference.d_bias, {problem.bias->gradient.data(), 1, places, places});
  }
}

TEST(Attention, ComputesOnlyRequestedGradients) {
  for (const std::int32_t length : {20, 300}) {  // the long sequence is divided among threads
    const AttentionCase c{"", {{length, length}}, 1, 16, 8};
    AttentionProblem<float> all(c);
    all.Forward();
    all.Backward();
    for (int wanted = 0; wanted < 3; ++wanted) {
      AttentionProblem<float> one(c);
      one.Forward();
      GradientTo<float> to[3];
      TestMatrix<float>* const matrices[] = {&one.d_query, &one.d_key, &one.d_value};
      to[wanted].to = matrices[wanted]->view();
      AttentionBackward<float>(one.input, one.output.view(), one.d_output.view(), one.log_sum_exp, to[0], to[1], to[2]);
      const TestMatrix<float>& expected = wanted == 0 ? all.d_query : wanted == 1 ? all.d_key : all.d_value;
      for (std::int64_t row = 0; row < expected.view().rows; ++row) {
        EXPECT_EQ(matrices[wanted]->at(row, 3), expected.at(row, 3)) << wanted << " row " << row;
      }
    }
  }
}

TEST(Attention, PropagatesNaNsAndInfinities) {
  ForEveryTarget([] {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (const std::int32_t queries : {1, 20}) {  // covers both ways of computing scores
      for (const float bad : {nan, infinity}) {
        for (const int which : {0, 1, 2}) {
          AttentionProblem<float> problem({"", {{queries, 20}, {queries, 3}}, 2, 8, 8});
          TestMatrix<float>& matrix = which == 0 ? problem.query : which == 1 ? problem.key : problem.value;
          const std::int32_t row = which == 0 ? problem.rows.queries[0].begin : problem.rows.keys[0].begin + 17;
          for (std::int64_t column = 0; column < 8; ++column) matrix.at(row, column) = bad;
          if (which == 1) problem.query.at(problem.rows.queries[0].begin, 0) = 100;  // the score is not -infinity
          problem.Forward();
          EXPECT_FALSE(std::isfinite(problem.output.at(problem.rows.queries[0].begin, 0))) << which;
          EXPECT_TRUE(std::isfinite(problem.output.at(problem.rows.queries[0].begin, 8))) << which;
          EXPECT_TRUE(std::isfinite(problem.output.at(problem.rows.queries[1].begin, 0))) << which;
        }
      }
    }
  });
}

TEST(Attention, HandlesLargeScoresAndBiasesThatHideEverything) {
  ForEveryTarget([] {
    AttentionProblem<float> large({"", {{20, 20}}, 1, 8, 8});
    large.input.scale = 1e4f;  // one key receives all the weight
    large.Forward();
    large.Backward();
    for (const float lse : std::span(large.log_sum_exp).subspan(2, 20)) EXPECT_TRUE(std::isfinite(lse));
    for (std::int64_t row = 2; row < 22; ++row) EXPECT_TRUE(std::isfinite(large.d_query.at(row, 0)));

    AttentionProblem<float> hidden({"", {{20, 20}}, 1, 8, 8, false, 0, dense});
    std::ranges::fill(hidden.bias->values, -std::numeric_limits<float>::infinity());
    hidden.Forward();
    hidden.Backward();
    for (std::int64_t row = 2; row < 22; ++row) {
      EXPECT_EQ(hidden.output.at(row, 0), 0);
      EXPECT_EQ(hidden.log_sum_exp[static_cast<std::size_t>(row)], std::numeric_limits<float>::infinity());
      EXPECT_EQ(hidden.d_query.at(row, 0), 0);
    }
  });
}

TEST(Attention, RejectsShapesThatDoNotFit) {
  const auto refuses = [](const char* rule, auto spoil) {
    AttentionProblem<float> problem({"", {{3, 4}, {2, 2}}, 2, 4, 4});
    spoil(problem);
    try {
      problem.Forward();
      problem.Backward();
      ADD_FAILURE() << "accepted: " << rule;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(rule), std::string::npos) << error.what();
    }
  };
  using P = AttentionProblem<float>;
  refuses("mask of 2 entries", [](P& p) {
    static const std::vector<std::uint8_t> marks = {1, 0};
    p.input.present = marks;
  });
  refuses("0 heads", [](P& p) { p.input.heads = 0; });
  refuses("must be 3 and 3 heads", [](P& p) { p.input.heads = 3; });
  refuses("3 key heads must divide", [](P& p) { p.input.key_heads = 3; });
  refuses("must be 2 and 1 heads", [](P& p) { p.input.key_heads = 1; });
  refuses("keys of 7 columns", [](P& p) { p.input.key.columns = 7; });
  refuses("must divide them", [](P& p) { p.input.value.columns = 7; });
  refuses("rows of keys but", [](P& p) { --p.input.value.rows; });
  refuses("sentences of queries but 1", [](P& p) { p.input.keys = p.input.keys.first(1); });
  refuses("sentence 1 has queries", [](P& p) { p.rows.queries[1].length = 100; });
  refuses("sentence 0 has queries", [](P& p) { p.rows.queries[0].begin = -1; });
  refuses("sentence 1 has keys", [](P& p) { p.rows.keys[1] = {1, 2147483647}; });
  refuses("sentence 0 has queries", [](P& p) { p.rows.queries[0].length = -1; });
  refuses("share rows", [](P& p) { p.rows.queries[1].begin = 4; });
  refuses("in steps of 0", [](P& p) { p.rows.keys[1].step = 0; });
  refuses("keys 3 to 25", [](P& p) { p.rows.keys[0].step = 7; });
  refuses("keys have a step of 2", [](P& p) {
    p.input.key_rows = p.rows.index = std::vector<std::int32_t>(20, 1);
    p.rows.keys[1].step = 2;
  });
  const std::vector<std::int64_t> begin = {0, 13}, three = {0, 0, 0};
  const std::vector<std::int32_t> index = {0, 1, 2, 3};
  const std::vector<float> values(30, 0.5f);
  const auto biased = [&](BiasIndexing by, std::int64_t places, auto spoil) {
    return [=, &values](P& p) {
      p.input.bias = {.values = {values.data(), places, 2, 2}, .by = by};
      spoil(p.input.bias);
    };
  };
  using Bias = AttentionBias<float>;
  refuses("bias of 1 heads", biased(BiasIndexing::pairs, 15, [](Bias& b) { b.values.columns = 1; }));
  refuses("but shares a bias", biased(BiasIndexing::pairs, 15, [](Bias&) {}));
  refuses("pairs 0 to 12", biased(BiasIndexing::pairs, 11, [](Bias&) {}));
  refuses("pairs 13 to 17", biased(BiasIndexing::pairs, 15, [&](Bias& b) { b.begin = begin; }));
  refuses("entry 3 of a bias", biased(BiasIndexing::table, 3, [&](Bias& b) { b.index = index; }));
  refuses("sentence 0 has 4 keys", biased(BiasIndexing::keys, 3, [](Bias&) {}));
  refuses("an index of 4 distances", biased(BiasIndexing::distances, 4, [&](Bias& b) { b.index = index; }));
  refuses("bias for 3 sentences", biased(BiasIndexing::pairs, 15, [&](Bias& b) { b.begin = three; }));
  refuses("mask of left -2", [](P& p) { p.input.mask.left = -2; });
  refuses("prefix -1", [](P& p) { p.input.mask.prefix = -1; });
  refuses("window 2", [](P& p) { p.input.mask.window = 2; });
  refuses("block -1", [](P& p) { p.input.mask.block = -1; });
  refuses("capped at -1", [](P& p) { p.input.score_cap = -1; });
  refuses("capped at inf", [](P& p) { p.input.score_cap = std::numeric_limits<float>::infinity(); });
  refuses("capped at nan", [](P& p) { p.input.score_cap = std::nanf(""); });
  refuses("capped at 1e-42", [](P& p) { p.input.score_cap = 1e-42f; });  // its reciprocal overflows
  refuses("dropout is 1", [](P& p) { p.input.dropout.probability = 1; });
  refuses("dropout is nan", [](P& p) { p.input.dropout.probability = std::nan(""); });
  refuses("log_sum_exp holds 3", [](P& p) { p.log_sum_exp.resize(3); });
  refuses("sentence 0 has keys", [](P& p) { p.input.key_rows = p.rows.index = {1, 2, 3}; });
  refuses("key row 99", [](P& p) { p.input.key_rows = p.rows.index = std::vector<std::int32_t>(20, 99); });
  refuses("have no gradient", [](P& p) { p.input.key_rows = p.rows.index = std::vector<std::int32_t>(20, 1); });
}

}  // namespace
}  // namespace headlight::kernels::attention_test
