// Settings of layer stacks that several families share.
#pragma once

#include "headlight/io/config_table.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

/// Describes the sizes of an encoder's layers and their activation.
template <typename Config>
void DescribeEncoderSizes(ConfigTable& table, Config& config) {
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Heads("num_attention_heads", config.heads, config.model);
  table.Size("intermediate_size", config.ffn, "the ffn dimension");
  table.Choice("hidden_act", config.activation, kActivationNames);
}

/// Describes the settings of an encoder such as BERT or ViT.
template <typename Config>
void DescribeEncoderStack(ConfigTable& table, Config& config) {
  DescribeEncoderSizes(table, config);
  table.Probability("hidden_dropout_prob", config.dropout);
  table.Probability("attention_probs_dropout_prob", config.attention_dropout);
  table.Epsilon("layer_norm_eps", config.norm_epsilon);
}

/// Describes the settings of a tower of CLIP or SigLIP, or of BLIP's vision encoder.
template <typename Config>
void DescribeTower(ConfigTable& table, Config& config) {
  DescribeEncoderSizes(table, config);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Epsilon("layer_norm_eps", config.norm_epsilon);
  // These keys have no effect. No layer uses this dropout, and the outer configuration sets the projection size.
  table.Harmless({"dropout", "initializer_factor", "projection_dim"});
}

/// Describes the settings of an encoder and a decoder, as in the Transformer and BART.
template <typename Config>
void DescribeStacks(ConfigTable& table, Config& config, Activation unless_given = Activation::gelu) {
  table.Note("is_encoder_decoder", true);
  table.Size("d_model", config.model, "the model dimension");
  table.Layers("encoder_layers", config.encoder_layers, "the number of encoder layers");
  table.Layers("decoder_layers", config.decoder_layers, "the number of decoder layers");
  table.Heads("encoder_attention_heads", config.encoder_heads, config.model, "the number of encoder heads");
  table.Heads("decoder_attention_heads", config.decoder_heads, config.model, "the number of decoder heads");
  table.Size("encoder_ffn_dim", config.encoder_ffn, "the encoder's ffn dimension");
  table.Size("decoder_ffn_dim", config.decoder_ffn, "the decoder's ffn dimension");
  table.Default(config.activation, unless_given);
  table.Choice("activation_function", config.activation, kActivationNames);
  table.Probability("dropout", config.dropout);
  table.Default(config.attention_dropout, 0);
  table.Probability("attention_dropout", config.attention_dropout);
}

template <typename Config>
TransformerLayerConfig LayerOf(const Config& config, std::int32_t heads, std::int64_t ffn) {
  return {.model = config.model,
          .heads = heads,
          .ffn = ffn,
          .activation = config.activation,
          .norm = config.norm,
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout};
}

}  // namespace headlight
