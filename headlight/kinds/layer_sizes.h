// Sizes of a model's layers for Model::Description, with the same names for all families.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/base/json.h"

namespace headlight {

/// Returns the sizes of a stack of layers. `config` has `layers`, `model`, `heads` and `ffn`.
template <typename Config>
Json::Object SizesOfStack(const Config& config) {
  return {{"layers", config.layers}, {"model", config.model}, {"attention_heads", config.heads}, {"ffn", config.ffn}};
}

/// Returns the sizes of one submodel. For example, the names for the submodel "image" begin with "image_".
template <typename Config>
Json::Object SizesOfPart(const std::string& part, const Config& config) {
  return {{part + "_layers", config.layers},
          {part + "_model", config.model},
          {part + "_heads", config.heads},
          {part + "_ffn", config.ffn}};
}

/// Returns the sizes of an encoder and a decoder, which may differ.
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

/// Appends the members that are not yet in `description`.
HEADLIGHT_API void AddMissing(Json::Object& description, Json::Object members);

}  // namespace headlight
