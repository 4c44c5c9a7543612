// Configurations of the dual encoders CLIP and SigLIP, with a nested configuration for each tower.
#pragma once

#include <string>

#include "headlight/io/config_table.h"
#include "headlight/models/files/image_settings.h"
#include "headlight/models/files/model_files.h"
#include "headlight/models/files/stacks.h"

namespace headlight {

template <typename Config>
void DescribeTextTower(ConfigTable& table, Config& config) {
  DescribeTower(table, config);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.positions, "the number of positions");
}

template <typename Config>
void DescribeImageTower(ConfigTable& table, Config& config) {
  DescribeTower(table, config);
  DescribeImages(table, config.image, config.patch, config.channels);
}

/// Describes the towers that the model has.
template <typename Config>
void DescribeTowers(ConfigTable& table, const Config& config) {
  table.Rule(config.text || config.image, "a model needs a tower");
  if (config.text) CheckConfig(*config.text);
  if (config.image) CheckConfig(*config.image);
}

/// Reads the configuration of a folder with both towers, or with the single tower that model_type names.
template <typename Config>
Config ReadDualConfig(const ModelFolder& files, const ChosenDropout& dropout) {
  const JsonView& json = files.config;
  const std::string type = json["model_type"].String();
  Config config;
  if (type.ends_with("_text_model")) {
    config.image.reset();
    ReadConfig(json, *config.text, dropout);
    if (!files.weights.contains("text_model.final_layer_norm.weight")) config.text_scope = "";
  } else if (type.ends_with("_vision_model")) {
    config.text.reset();
    ReadConfig(json, *config.image, dropout);
    if (!files.weights.contains("vision_model.post_layernorm.weight")) config.image_scope = "";
  } else {
    // Older files may repeat a tower's settings in text_config_dict, which then has priority, as in Transformers.
    const auto read = [&](const std::string& name, auto& tower) {
      const JsonView again = json[name + "_dict"], own = again.present() ? again : json[name];
      if (own.present()) ReadConfig(own, tower, dropout);
    };
    read("text_config", *config.text);
    read("vision_config", *config.image);
    ConfigTable table(json);
    Describe(table, config);
    table.Harmless({"initializer_factor", "text_config", "text_config_dict", "vision_config", "vision_config_dict"});
    table.RefuseUnread();
    CheckConfig(config, json.location());
  }
  return config;
}

/// Returns config.json of a dual encoder. The architecture is `family`Model or, with one tower, for example
/// `family`TextModel.
template <typename Config>
Json WriteDualConfig(const Config& config, const std::string& family) {
  Json json;
  std::string tower;
  if (config.text && config.image) {
    json = WriteConfig(config);
    json.Set("text_config", WriteConfig(*config.text));
    json.Set("vision_config", WriteConfig(*config.image));
  } else {
    json = config.text ? WriteConfig(*config.text) : WriteConfig(*config.image);
    tower = config.text ? "Text" : "Vision";
  }
  json.Set("architectures", Json::Array{family + tower + "Model"});
  return json;
}

}  // namespace headlight
