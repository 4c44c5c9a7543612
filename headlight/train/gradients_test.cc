#include "headlight/train/gradients.h"

#include <gtest/gtest.h>

#include <any>
#include <vector>

#include "headlight/ops/arithmetic.h"

namespace headlight::gradients_test {
namespace {

// Checks the clipping of two gradients that are each along one axis.
TEST(ComputeGradients, ClipsEachPartSeparately) {
  Parameters parameters(DType::float32);
  const Parameter& weights = Scope(parameters).DeclareVector({"weights"}, 2);
  parameters.Allocate();
  parameters.PrepareTraining();
  const PartLoss loss = [&](Context& context, const TrainingPart& part, double scale) {
    return ops::Scale(ops::Sum(ops::Multiply(context.Use(weights), part.As<Tensor>())), scale);
  };
  const std::vector<TrainingPart> parts = {TrainingPart(Tensor::From<float>({30, 0}, {2})),
                                           TrainingPart(Tensor::From<float>({0, 1}, {2}))};
  ComputeGradients(parameters, loss, parts, {.labels = 2, .seed = 1, .clip_part_norm = 3});
  EXPECT_EQ(weights.gradient.ToVector<float>(), (std::vector<float>{1.5, 0.5}));
  parameters.gradients().Fill(0);
  ComputeGradients(parameters, loss, parts, {.labels = 2, .seed = 1});
  EXPECT_EQ(weights.gradient.ToVector<float>(), (std::vector<float>{15, 0.5}));
}

}  // namespace
}  // namespace headlight::gradients_test
