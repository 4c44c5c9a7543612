// The sizes of a model's layers, under the names that all families share, for Model::Description.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/base/json.h"

namespace headlight {

/// Of one stack of layers, whose config has `layers`, `model`, `heads` and `ffn`.
template <typename Config>
Json::Object SizesOfStack(const Config& config) {
  return {{"layers", config.layers}, {"model", config.model}, {"attention_heads", config.heads}, {"ffn", config.ffn}};
}

/// Of a stack that is one part of a model, such as "image": image_layers and so on.
template <typename Config>
Json::Object SizesOfPart(const std::string& part, const Config& config) {
  return {{part + "_layers", config.layers},
          {part + "_model", config.model},
          {part + "_heads", config.heads},
          {part + "_ffn", config.ffn}};
}

/// Of an encoder and a decoder, whose sizes may differ.
template <typename Config>
Json::Object SizesOfEncoderAndDecoder(const Config& config) {
  return {{"encoder_layers", config.encoder_layers},
          {"decoder_layers", config.decoder_layers},
          {"model", config.model},
          {"encoder_heads", config.encoder_heads},
          {"decoder_heads", config.decoder_heads},
          {"encoder_ffn", config.encoder_ffn},
          {"decoder_ffn", config.decoder_ffn}};
}

/// Appends the members that `description` does not have.
HEADLIGHT_API void AddMissing(Json::Object& description, Json::Object members);

}  // namespace headlight
