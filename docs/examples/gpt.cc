// Shows which tokens attend to which in a GPT-3 model (published as GPT-Neo). In a dense layer, a token attends to all
// earlier tokens. In a banded layer, it attends only to the nearest earlier tokens.
#include "headlight/models/gpt.h"

#include <fmt/format.h>

using namespace headlight;

int main() {
  Gpt gpt({.layout = GptLayout::gpt_neo,
           .model = 16,
           .layers = 2,
           .heads = 1,
           .ffn = 32,
           .vocabulary = 20,
           .positions = 8,
           .banded = {false, true},
           .window = 3});
  gpt.parameters().Initialize(/*seed=*/1);

  Context context;
  context.hooks.attention = [](const LayerAttention& seen) {
    fmt::print("layer {}\n", seen.layer + 1);
    const Matrix<float> weights = seen.weights.matrix<float>();  // [1, 1, query, key]
    for (std::int64_t query = 0; query < weights.rows; ++query) {
      for (std::int64_t key = 0; key < weights.columns; ++key)
        fmt::print("{}", weights.row(query)[key] > 0 ? " #" : " .");
      fmt::print("\n");
    }
  };
  gpt.Decode(context, std::vector<std::int32_t>{11, 12, 13, 14, 15, 16}, {{0, 6}});
}
