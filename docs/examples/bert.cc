// Shows which words can attend to which. In BERT, every word attends to both sides. In a decoder, a word attends only
// to earlier words.
#include "headlight/models/bert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headlight/nn/transformer_layers.h"

using namespace headlight;

// Changes the last of five words, and prints the words whose states change.
template <typename States>
void Show(const char* model, const States& states_of) {
  const Tensor before = states_of(std::vector<std::int32_t>{11, 12, 13, 14, 15});
  const Tensor after = states_of(std::vector<std::int32_t>{11, 12, 13, 14, 16});
  fmt::print("{:8}", model);
  for (std::int64_t word = 0; word < before.rows(); ++word) {
    float change = 0;
    for (std::int64_t i = 0; i < before.columns(); ++i)
      change = std::max(change, std::abs(before.matrix<float>().row(word)[i] - after.matrix<float>().row(word)[i]));
    fmt::print("{:>10}", change > 0 ? "changes" : "the same");
  }
  fmt::print("\n");
}

int main() {
  const Sequences one_text = {{0, 5}};
  Context context;

  Bert bert({.model = 32, .layers = 2, .heads = 4, .ffn = 64, .vocabulary = 20, .positions = 8});
  bert.parameters().Initialize(/*seed=*/1);

  const TransformerLayerConfig config{.model = 32, .heads = 4, .ffn = 64};
  Parameters parameters;
  const Scope scope(parameters);
  const TokenEmbedding tokens(scope / "words", /*vocabulary=*/20, config.model, Initialization::Normal(0.2),
                              /*scores=*/false);
  const auto positions = PositionalEncoding::Sinusoidal(/*positions=*/8, config.model);
  const Decoder decoder(scope, config, /*layers=*/2, Embedding(tokens, /*scale=*/1, positions, /*dropout=*/0),
                        /*with_cross_attention=*/false);
  parameters.Initialize(/*seed=*/1);

  Show("BERT", [&](const std::vector<std::int32_t>& ids) { return bert.Encode(context, ids, {}, one_text); });
  Show("decoder", [&](const std::vector<std::int32_t>& ids) { return decoder(context, ids, one_text, nullptr); });
}
