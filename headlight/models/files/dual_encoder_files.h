// The configurations of models of two towers, which CLIP and SigLIP lay out alike: a configuration within for each.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/model_files.h"

namespace headlight {

// The end_id of the first published folders: a text is read from its token of the largest id.
constexpr std::int32_t kLargestIdEnds = 2;

template <typename Config>
void DescribeClipTower(ConfigTable& table, Config& config) {
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Heads("num_attention_heads", config.heads, config.model);
  table.Size("intermediate_size", config.ffn, "the ffn dimension");
  table.Choice("hidden_act", config.activation, kActivationNames);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Epsilon("layer_norm_eps", config.norm_epsilon);
  // Of initialisation, of the projection, which the whole model's configuration rules, and a dropout of no layer.
  table.Harmless({"dropout", "initializer_factor", "projection_dim"});
}

// `name` of the configuration, such as text_config. Where an older file has its settings again in text_config_dict,
// these rule, as in Transformers.
template <typename Config>
Config ReadTower(const JsonView& json, const std::string& name, const ChosenDropout& dropout) {
  Config config;
  const JsonView again = json[name + "_dict"];
  const JsonView tower = again.present() ? again : json[name];
  if (tower.present()) ReadConfig(tower, config, dropout);
  return config;
}

template <typename Text, typename Picture>
void ReadTowers(const JsonView& json, std::optional<Text>& text, std::optional<Picture>& picture,
                const ChosenDropout& dropout) {
  text = ReadTower<Text>(json, "text_config", dropout);
  picture = ReadTower<Picture>(json, "vision_config", dropout);
}

// The settings outside of the towers' configs.
template <typename Config>
void ReadDualConfig(const JsonView& json, Config& config) {
  ConfigTable table(json);
  Describe(table, config);
  table.Harmless({"initializer_factor", "text_config", "text_config_dict", "vision_config", "vision_config_dict"});
  table.RefuseUnread();
  CheckConfig(config, json.place());
}

}  // namespace headlight
