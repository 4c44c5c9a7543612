#include "headlight/train/optimizer.h"

#include <gmock/gmock.h>

#include <cmath>

#include "headlight/base/test_support.h"

namespace headlight::optimizer_test {
namespace {

constexpr double kRate = 0.01;

// Declares an embedding (which is also the output projection), two layers and a head. All values are 1.
void DeclareAll(Parameters& parameters) {
  const Scope root(parameters), encoder = root / "encoder";
  Parameter& words = root.Declare("embed.weight", {5, 4}, {});
  words.role.looked_up = words.role.in_products = true;
  (encoder / "norm_in").Declare("weight", {4}, {});
  for (int layer = 0; layer < 2; ++layer) {
    const Scope scope = encoder / "layers" / layer;
    scope.DeclareMatrix({"q.weight", "k.weight"}, {8, 4});
    scope.DeclareVector({"q.bias", "k.bias"}, 8);
    (scope / "norm").Declare("weight", {4}, {});
  }
  (encoder / "norm_out").Declare("weight", {4}, {});
  root.DeclareMatrix({"classifier.weight"}, {2, 4});
  parameters.Allocate();
  parameters.values().Fill(1);
  parameters.PrepareTraining();
}

double ValueOf(const Parameters& parameters, const std::string& name) {
  for (const Parameter& parameter : parameters.all())
    if (parameter.names.front() == name) return static_cast<double>(parameter.value.data<float>()[0]);
  ADD_FAILURE() << name;
  return 0;
}

TEST(Optimizer, DecaysLinearWeightsButNoBiasNormOrEmbedding) {
  Parameters parameters;
  DeclareAll(parameters);
  Optimizer optimizer({.weight_decay = 0.5}, parameters);
  optimizer.Step(parameters, kRate);  // without gradients, only decay changes the values
  const double decayed = 1 - kRate * 0.5;
  EXPECT_FLOAT_EQ(ValueOf(parameters, "encoder.layers.0.q.weight"), decayed);
  EXPECT_FLOAT_EQ(ValueOf(parameters, "classifier.weight"), decayed);
  for (const char* name : {"embed.weight", "encoder.norm_in.weight", "encoder.layers.1.q.bias",
                           "encoder.layers.1.norm.weight", "encoder.norm_out.weight"})
    EXPECT_EQ(ValueOf(parameters, name), 1) << name;
}

TEST(Optimizer, AveragesStatisticsLikeTheWeights) {
  Parameters parameters;
  Parameter& mean = parameters.Declare({"running_mean"}, {3}, {});
  mean.role.trained = false;
  mean.role.statistic = true;
  DeclareAll(parameters);
  mean.value.Fill(5);
  Optimizer optimizer({.average_decay = 0.5}, parameters);
  EXPECT_EQ(optimizer.m.elements(), parameters.values().elements());
  mean.value.Fill(16);  // a training pass updates the statistics like this
  optimizer.Step(parameters, kRate);
  const auto averaged = optimizer.average.span<float>();
  for (std::size_t i = 0; i < 3; ++i)  // the decay of the average is 2 / 11 in the first step
    EXPECT_FLOAT_EQ(averaged[static_cast<std::size_t>(parameters.values().elements()) + i], 5 + 9.0F / 11 * (16 - 5));
  parameters.Freeze("classifier.*");
  EXPECT_EQ(ValueOf(parameters, "running_mean"), 16);
}

TEST(Optimizer, UsesTheWeightDecayOfAStep) {
  Parameters parameters;
  DeclareAll(parameters);
  Optimizer optimizer({.weight_decay = 0.5, .groups = {{.pattern = "embed.*", .decay_factor = 2}}}, parameters);
  optimizer.Step(parameters, kRate, 0.25);
  EXPECT_FLOAT_EQ(ValueOf(parameters, "classifier.weight"), 1 - kRate * 0.25);
  EXPECT_FLOAT_EQ(ValueOf(parameters, "embed.weight"), 1 - kRate * 0.5);
}

TEST(Optimizer, ClipsTheGradientOfEachParameter) {
  Parameters parameters;
  DeclareAll(parameters);
  Optimizer optimizer({.beta1 = 0.5, .clip_parameter_norm = 3}, parameters);
  const Parameter &large = parameters.all().back(), &small = parameters.all()[1];
  large.gradient.Fill(10);  // the gradient has 8 elements
  small.gradient.Fill(1);   // the gradient has 4 elements
  EXPECT_FLOAT_EQ(optimizer.Step(parameters, kRate), std::sqrt(8 * 100 + 4.0));
  const auto moment = [&](const Parameter& parameter) {
    return optimizer.m.data<float>()[parameter.value.data<float>() - parameters.values().data<float>()];
  };
  EXPECT_FLOAT_EQ(moment(large), 0.5 * 3 / std::sqrt(8.0));
  EXPECT_FLOAT_EQ(moment(small), 0.5);
}

TEST(Optimizer, GroupsSetDecayAndRate) {
  Parameters parameters;
  DeclareAll(parameters);
  Optimizer optimizer({.weight_decay = 0.5,
                       .groups = {{.pattern = "embed.*", .decay_factor = 2},
                                  {.pattern = "*layers.1.*", .decay_factor = 0},
                                  {.pattern = "*layers*", .rate_factor = 0.1}}},
                      parameters);
  optimizer.Step(parameters, kRate);
  EXPECT_FLOAT_EQ(ValueOf(parameters, "embed.weight"), 1 - kRate);
  EXPECT_FLOAT_EQ(ValueOf(parameters, "encoder.layers.0.q.weight"), 1 - 0.1 * kRate * 0.5);
  EXPECT_EQ(ValueOf(parameters, "encoder.layers.1.q.weight"), 1) << "the first matching group applies";
}

TEST(Optimizer, LayerDecayLowersTheRateLayerByLayer) {
  Parameters parameters;
  DeclareAll(parameters);
  Optimizer optimizer({.epsilon = 1e-12, .layer_decay = 0.5}, parameters);
  parameters.gradients().Fill(3);
  optimizer.Step(parameters, kRate);  // each element changes by the learning rate in Adam's first step
  const std::vector<std::pair<const char*, double>> expected = {{"classifier.weight", 1},
                                                                {"encoder.norm_out.weight", 1},
                                                                {"encoder.layers.1.q.weight", 0.5},
                                                                {"encoder.layers.1.norm.weight", 0.5},
                                                                {"encoder.layers.0.q.bias", 0.25},
                                                                {"encoder.norm_in.weight", 0.125},
                                                                {"embed.weight", 0.125}};
  for (const auto& [name, factor] : expected) EXPECT_NEAR(1 - ValueOf(parameters, name), kRate * factor, 1e-6) << name;
}

TEST(Optimizer, FrozenParametersHaveNoGradientAndNoMoments) {
  Parameters parameters;
  DeclareAll(parameters);
  parameters.all().front().value.Fill(7);
  const std::int64_t before = parameters.values().elements();
  Optimizer optimizer({.weight_decay = 0.5, .groups = {{.pattern = "embed*", .frozen = true}}}, parameters);
  EXPECT_TRUE(parameters.all().front().gradient.empty());
  EXPECT_EQ(parameters.values().elements(), before - Parameters::Aligned(20));
  EXPECT_EQ(optimizer.m.elements(), parameters.values().elements());
  parameters.gradients().Fill(3);
  optimizer.Step(parameters, kRate);
  EXPECT_EQ(ValueOf(parameters, "embed.weight"), 7);
  EXPECT_LT(ValueOf(parameters, "encoder.norm_in.weight"), 1);
  EXPECT_LT(ValueOf(parameters, "classifier.weight"), 1);
}

TEST(Optimizer, RefusesGroupsThatMatchNothingOrPartOfAMatrix) {
  const auto refused = [](const ParameterGroup& group) {
    Parameters parameters;
    DeclareAll(parameters);
    return ErrorOf([&] { const Optimizer optimizer({.groups = {group}}, parameters); });
  };
  EXPECT_THAT(refused({.pattern = "decoder.*"}), testing::HasSubstr("matches 'decoder.*'"));
  EXPECT_THAT(refused({.pattern = "*.q.weight", .frozen = true}), testing::HasSubstr("one matrix in memory"));
  EXPECT_THAT(refused({.pattern = "*", .rate_factor = -1}), testing::HasSubstr("negative"));
}

}  // namespace
}  // namespace headlight::optimizer_test
