// Language models in GGUF files, converted to Hugging Face's layout: the metadata becomes config.json, and the tensors
// are named as in the published checkpoints.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/io/safetensors.h"

namespace headlight {

struct GgufModel {
  JsonView config;
  Safetensors weights;
};

/// Opens a GGUF file, or the first file of a split model. Tensors keep their block types. The rows of queries and keys
/// have the order of Transformers' rotary positions. Throws Error naming the key, the tensor or the architecture that
/// is not supported.
HEADLIGHT_API GgufModel OpenGgufModel(const std::string& path);

}  // namespace headlight
