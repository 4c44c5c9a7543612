// Prints the attention weights of every head of every layer of an encoder and a decoder, as `[batch, heads, query,
// key]`.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "docs/examples/image.h"
#include "headlight/nn/transformer_layers.h"

using namespace headlight;

namespace {

const Words source = {"gestern", "schlief", "der", "Hund", "</s>"};
const Words target = {"<s>", "yesterday", "the", "dog", "slept"};

void Show(const LayerAttention& attention) {
  const bool causal = attention.kind == AttentionKind::decoder_self;
  const char* name = attention.kind == AttentionKind::cross ? "cross" : causal ? "masked self" : "self";
  fmt::print("{} attention of layer {}: {}\n", name, attention.layer + 1, ToString(attention.weights.shape()));
  PrintWeights(attention.weights, attention.kind == AttentionKind::encoder_self ? source : target,
               attention.kind == AttentionKind::decoder_self ? target : source, causal);
}

}  // namespace

int main() {
  const TransformerLayerConfig config{.model = 16, .heads = 2, .ffn = 32};
  Parameters parameters(DType::float64);
  const Scope scope(parameters);
  const TokenEmbedding tokens(scope / "words", /*vocabulary=*/10, config.model, Initialization::Normal(0.25),
                              /*scores=*/false);
  const auto positions = PositionalEncoding::Sinusoidal(/*positions=*/8, config.model, DType::float64);
  const Embedding embedding(tokens, /*scale=*/std::sqrt(16.0), positions, /*dropout=*/0.1);
  const Encoder encoder(scope / "encoder", config, /*layers=*/2, embedding);
  const Decoder decoder(scope / "decoder", config, /*layers=*/2, embedding);
  parameters.Initialize(/*seed=*/1);

  Context context;
  context.hooks.attention = Show;  // called by each attention of each layer
  const std::vector<std::int32_t> source_ids = {0, 1, 2, 3, 4}, target_ids = {5, 6, 7, 8, 9};
  const Sequences one_sentence = {{0, 5}};
  // Every decoder layer computes its keys and values from this memory, which is the output of the last encoder layer.
  const Memory memory{encoder(context, source_ids, one_sentence), one_sentence};
  decoder(context, target_ids, one_sentence, &memory);
}
