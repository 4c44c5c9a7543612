#include "headlight/nn/relative_positions.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::relative_positions_test {
namespace {

constexpr std::int32_t kHeads = 2;
constexpr RelativePositionsConfig kConfigs[] = {{true, 12, 40}, {false, 9, 100}};

// Sequences that fill several tiles or only part of a tile.
const Sequences kSentences = {{0, 150}, {150, 1}, {151, 70}};

struct Case {
  explicit Case(const RelativePositionsConfig& of)
      : config(of), parameters(DType::float64), positions(Scope(parameters, "positions"), config, kHeads, 0.7) {
    parameters.Initialize(3);
    parameters.PrepareTraining();
  }

  ops::AttentionOptions Options(Context& context) const {
    return {.heads = kHeads, .scale = 0.5, .mask = {.causal = !config.both_directions}, .bias = positions(context)};
  }

  // Returns a scalar that depends on all elements of the output.
  Tensor Loss(Context& context) const {
    const Tensor y = ops::Attention(query, key, value, kSentences, kSentences, Options(context));
    return ops::Sum(ops::Multiply(y, weights));
  }

  RelativePositionsConfig config;
  Parameters parameters;
  RelativePositions positions;
  Tensor query = RandomTensor({221, 6}, 1), key = RandomTensor({221, 6}, 2), value = RandomTensor({221, 4}, 3);
  Tensor weights = RandomTensor({221, 4}, 4);
};

TEST(RelativePositions, AddTheBiasOfEachBucket) {
  for (const RelativePositionsConfig& config : kConfigs) {
    const Case c(config);
    const std::vector<std::int32_t> buckets = RelativeBuckets(config);
    const Tensor& table = c.parameters.all().front().value;
    Context context;
    // The queries are the last tokens of a sequence, as with a cache.
    for (const std::int32_t queries : {150, 3}) {
      const Tensor weights =
          ops::AttentionWeights(c.query, c.key, {{150 - queries, queries}}, {{0, 150}}, c.Options(context), 0);
      for (std::int32_t head = 0; head < kHeads; ++head)
        for (std::int32_t query = 150 - queries; query < 150; ++query) {
          std::vector<double> scores;
          double sum = 0;
          for (std::int32_t k = 0; k < 150; ++k) {
            double score = 0;
            for (std::int32_t i = 0; i < 3; ++i)
              score +=
                  0.5 * c.query.matrix<double>().row(query)[3 * head + i] * c.key.matrix<double>().row(k)[3 * head + i];
            const std::int32_t distance = std::clamp(k - query, -config.max_distance, config.max_distance);
            const std::int32_t bucket = buckets[static_cast<std::size_t>(distance + config.max_distance)];
            const bool seen = config.both_directions || k <= query;
            scores.push_back(seen ? std::exp(score + table.matrix<double>().row(bucket)[head]) : 0);
            sum += scores.back();
          }
          const double* const row = weights.matrix<double>().row(head * queries + query - (150 - queries));
          for (std::size_t k = 0; k < 150; ++k) ASSERT_NEAR(row[k], scores[k] / sum, 1e-12) << head << query << k;
        }
    }
  }
}

TEST(RelativePositions, GradientsMatchFiniteDifferencesForAnyNumberOfThreads) {
  for (const RelativePositionsConfig& config : kConfigs) {
    Case c(config);
    Parameter& table = c.parameters.all().front();
    std::vector<double> gradient;
    const int threads = Threads();
    for (const int some : {1, 3}) {
      SetThreads(some);
      table.gradient.Fill(0);
      Tape tape;
      Context context;
      context.tape = &tape;
      tape.Backward(c.Loss(context));
      const std::vector<double> found = table.gradient.ToVector<double>();
      EXPECT_EQ(found, some == 1 ? found : gradient);
      gradient = found;
    }
    SetThreads(threads);
    Context context;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      double& number = table.value.data<double>()[i];
      const double kept = number;
      number = kept + 1e-5;
      const double above = c.Loss(context).data<double>()[0];
      number = kept - 1e-5;
      const double below = c.Loss(context).data<double>()[0];
      number = kept;
      EXPECT_NEAR(gradient[i], (above - below) / 2e-5, 1e-6) << i;
    }
    EXPECT_GT(*std::ranges::max_element(gradient), 0.01);
  }
}

TEST(RelativePositions, RejectImpossibleBuckets) {
  EXPECT_THAT(ErrorOf([] { RelativeBuckets({true, 3, 100}); }), testing::HasSubstr("at least 4 buckets"));
  EXPECT_THAT(ErrorOf([] { RelativeBuckets({true, 32, 16}); }), testing::HasSubstr("more than half"));
}

}  // namespace
}  // namespace headlight::relative_positions_test
