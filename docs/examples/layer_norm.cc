// Normalizes a vector to mean 0 and variance 1 with layer normalization.
#include <fmt/format.h>

#include <vector>

#include "docs/examples/image.h"
#include "headlight/nn/layers.h"

using namespace headlight;

int main() {
  const std::vector<float> x = {-2.3F, 1.9F, 2.7F, -3.4F};
  Parameters parameters;
  const LayerNorm norm(Scope(parameters, "norm"), /*model=*/4);  // declares its gain and bias
  parameters.Initialize(/*seed=*/1);                             // sets the gain to 1 and the bias to 0
  Context context;
  const std::vector<float> y = norm(context, Tensor::From<float>(x, {1, 4})).ToVector<float>();
  fmt::print("result {}\n", Row(y));

  double mean = 0, variance = 0;
  for (const double value : x) mean += value / 4;
  for (const double value : x) variance += (value - mean) * (value - mean) / 4;
  fmt::print("x has mean {:.3f} and variance {:.2f}\n", mean, variance);
}
