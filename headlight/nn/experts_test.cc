#include "headlight/nn/experts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/routing.h"

namespace headlight::experts_test {
namespace {

constexpr std::int64_t kModel = 6;

struct Layer {
  explicit Layer(DType dtype, std::int64_t shared_ffn = 0, bool normalized = true)
      : parameters(dtype),
        experts(Scope(parameters), {.experts = 5,
                                    .per_token = 2,
                                    .normalized = normalized,
                                    .each = {.model = kModel, .ffn = 4},
                                    .shared_ffn = shared_ffn}) {
    for (Parameter& parameter : parameters.all()) parameter.initialization = Initialization::Normal(0.7);
    parameters.Initialize(1);
  }

  Parameters parameters;
  Experts experts;
};

Tensor Single(const Tensor& x) {
  const Tensor single = Tensor::Empty(x.shape(), DType::float32);
  std::ranges::copy(x.span<double>(), single.data<float>());
  return single;
}

// Checks that identical experts give the result of a single network, because the weights of a token's two experts sum
// to 1.
TEST(Experts, OfTheSameWeightsAreOneNetwork) {
  const Layer layer(DType::float64);
  Parameters of_one(DType::float64);
  const GatedFeedForward one(Scope(of_one), {.model = kModel, .ffn = 4});
  of_one.Initialize(2);
  for (const Parameter& parameter : layer.parameters.all())
    for (const Parameter& same : of_one.all())
      if (parameter.names.front().ends_with("." + same.names.front())) parameter.value.CopyFrom(same.value);
  const Tensor x = RandomTensor({7, kModel}, 3);
  Context context;
  const std::vector<double> mixed = layer.experts(context, x).ToVector<double>();
  const std::vector<double> expected = one(context, x).ToVector<double>();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(mixed[i], expected[i], 1e-12);
}

TEST(Experts, GradientsMatchFiniteDifferences) {
  for (const std::int64_t shared_ffn : {0, 3})
    for (const bool normalized : {false, true}) {
      const Layer layer(DType::float64, shared_ffn, normalized);
      const auto f = [&](const std::vector<Tensor>& in) {
        Context context;
        return layer.experts(context, in[0]);
      };
      EXPECT_EQ("", CheckGradients(f, {RandomTensor({4, kModel}, 4)}));
    }
}

TEST(Experts, GiveATokenTheSameBitsAmongOthers) {
  for (const Compute compute : {Compute::float32, Compute::int8}) {
    Layer layer(DType::float32, /*shared_ffn=*/3);
    layer.parameters.SetCompute(compute);
    const Tensor x = Single(RandomTensor({40, kModel}, 5));
    Context context;
    const Tensor together = layer.experts(context, x);
    for (std::int64_t token = 0; token < x.rows(); ++token)
      EXPECT_EQ(layer.experts(context, x.ViewRows(token, 1)).ToVector<float>(),
                together.ViewRows(token, 1).ToVector<float>())
          << token;
  }
}

TEST(Experts, TellTheirRouting) {
  const Layer layer(DType::float32);
  Context context;
  int calls = 0;
  context.hooks.routing = [&](const ops::Routing& routing) {
    ++calls;
    EXPECT_EQ(routing.probabilities.shape(), (Shape{3, 5}));
    EXPECT_EQ(routing.experts.size(), 6u);
  };
  layer.experts(context, Single(RandomTensor({3, kModel}, 6)));
  EXPECT_EQ(calls, 1);
}

// Checks that an expert without tokens is not computed. The weights of that expert are NaN.
TEST(Experts, ComputeOnlyThoseThatTokensTake) {
  const Layer layer(DType::float32);
  const Tensor x = Single(RandomTensor({1, kModel}, 7));
  Context context;
  std::vector<std::int32_t> taken;
  context.hooks.routing = [&](const ops::Routing& routing) { taken = routing.experts; };
  const std::vector<float> before = layer.experts(context, x).ToVector<float>();
  Layer damaged(DType::float32);
  for (Parameter& parameter : damaged.parameters.all())
    for (std::int32_t expert = 0; expert < 5; ++expert)
      if (std::ranges::count(taken, expert) == 0 &&
          parameter.names.front().starts_with("experts." + std::to_string(expert)))
        parameter.value.Fill(std::numeric_limits<double>::quiet_NaN());
  damaged.parameters.Pack();
  EXPECT_EQ(damaged.experts(context, x).ToVector<float>(), before);
}

}  // namespace
}  // namespace headlight::experts_test
