// GPT-2's layer settings, attention and initialization, shared with ImageGPT.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/parameters.h"

namespace headlight {

template <typename Config>
void DescribeGpt2Stack(ConfigTable& table, Config& config) {
  table.Size("n_embd", config.model, "the model dimension");
  table.Layers("n_layer", config.layers);
  table.Heads("n_head", config.heads, config.model);
  table.Default(config.ffn, 4 * config.model);
  table.Size("n_inner", config.ffn, "the ffn dimension");
  table.Choice("activation_function", config.activation, kActivationNames);
  table.Probability("resid_pdrop", config.dropout);
  table.Probability("embd_pdrop", config.embedding_dropout);
  table.Probability("attn_pdrop", config.attention_dropout);
  table.Epsilon("layer_norm_epsilon", config.norm_epsilon);
}

/// Returns the attention settings of a layer. In the original code, matrices are convolutions of width 1 with weights
/// [inputs, outputs].
template <typename Config>
MultiHeadAttentionConfig Gpt2AttentionOf(const Config& config, int layer) {
  const double head_dim = static_cast<double>(config.model) / config.heads;
  return {.model = config.model,
          .heads = config.heads,
          .dropout = config.attention_dropout,
          .names = {.output = "c_proj", .query_key_value = "c_attn"},
          .stored_transposed = true,
          .scale = (config.scale_attention ? 1 / std::sqrt(head_dim) : 1.0) /
                   (config.scale_attention_by_layer ? layer + 1 : 1)};
}

/// Initializes the parameters as in GPT-2: "We scale the weights of residual layers at initialization by a factor of
/// 1/sqrt(N) where N is the number of residual layers" (section 2.3). Each layer counts as two residual layers. If
/// `residual_layers` is 1, weights are not scaled (GPT, section 4.1). `outputs` has the name suffixes of the layers'
/// last matrices, without ".weight".
inline void InitializeAsGpt(Parameters& parameters, int residual_layers, std::initializer_list<const char*> outputs) {
  bool found = false;
  for (Parameter& parameter : parameters.all()) {
    const bool residual = std::ranges::any_of(outputs, [&](const char* output) {
      return parameter.names.front().ends_with(fmt::format(".{}.weight", output));
    });
    found |= residual;
    if (parameter.role.in_products)
      parameter.initialization = Initialization::Normal(0.02 / (residual ? std::sqrt(residual_layers) : 1.0));
  }
  Ensure(found, "no parameter ends in {}", *outputs.begin());
}

/// The names of the output matrices of GPT-2's sublayers, and of GPT-Neo's attention.
inline constexpr std::initializer_list<const char*> kGptOutputs = {"c_proj", "out_proj"};

}  // namespace headlight
