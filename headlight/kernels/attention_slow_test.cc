#include <sys/resource.h>

#include <cmath>

#include "headlight/kernels/attention_testing.h"

namespace headlight::kernels::attention_slow_test {
namespace {

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Checks attention over 16,384 tokens, whose scores would occupy a gigabyte. Memory must grow by at most 32 MB, and
// samples of the results must be correct.
TEST(AttentionSlow, MemoryIsLinearInTokens) {
  constexpr std::int32_t tokens = 16384, dim = 16;
  AttentionProblem<float> problem({"", {{tokens, tokens}}, 1, dim, dim, true});
  [[maybe_unused]] const double before = PeakMegabytes();
  problem.Forward();
  problem.Backward();
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(PeakMegabytes() - before, 32);
#endif

  const std::int64_t query = problem.rows.queries[0].begin, key = problem.rows.keys[0].begin;
  const auto dot = [](const float* a, const float* b) {
    double sum = 0;
    for (std::int32_t d = 0; d < dim; ++d) sum += double{a[d]} * b[d];
    return sum;
  };
  const auto row = [](const TestMatrix<float>& matrix, std::int64_t index) { return matrix.view().row(index); };
  const auto log_sum = [&](std::int32_t i) { return problem.log_sum_exp[static_cast<std::size_t>(query + i)]; };
  const auto weight = [&](std::int32_t i, std::int32_t j) {
    return std::exp(dot(row(problem.query, query + i), row(problem.key, key + j)) * problem.input.scale - log_sum(i));
  };
  const auto d_score = [&](std::int32_t i, std::int32_t j) {
    const float* const d_output = row(problem.d_output, query + i);
    return weight(i, j) * (dot(d_output, row(problem.value, key + j)) - dot(d_output, row(problem.output, query + i)));
  };
  for (const std::int32_t at : {0, 63, 64, 8191, tokens - 1}) {
    double sum = 0, output = 0, d_query = 0, d_key = 0, d_value = 0;
    for (std::int32_t j = 0; j <= at; ++j) {
      sum += weight(at, j);
      output += weight(at, j) * problem.value.at(key + j, 3);
      d_query += d_score(at, j) * problem.key.at(key + j, 3) * problem.input.scale;
    }
    for (std::int32_t i = at; i < tokens; ++i) {
      d_key += d_score(i, at) * problem.query.at(query + i, 3) * problem.input.scale;
      d_value += weight(i, at) * problem.d_output.at(query + i, 3);
    }
    EXPECT_NEAR(sum, 1, 1e-5) << at;
    EXPECT_NEAR(problem.output.at(query + at, 3), output, 1e-5) << at;
    EXPECT_NEAR(problem.d_query.at(query + at, 3), d_query, 1e-5) << at;
    EXPECT_NEAR(problem.d_key.at(key + at, 3), d_key, 1e-4) << at;
    EXPECT_NEAR(problem.d_value.at(key + at, 3), d_value, 1e-4) << at;
  }
}

}  // namespace
}  // namespace headlight::kernels::attention_slow_test
