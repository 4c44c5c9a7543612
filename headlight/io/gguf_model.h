// A language model in a GGUF file as Hugging Face's layout has it: its metadata as config.json, and its tensors under
// the names of the published checkpoints.
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

/// Opens a GGUF file, or the first of a split model. Tensors keep their block types, and the rows of queries and keys
/// have the order of Transformers' rotary positions. Throws Error naming the key, the tensor or the architecture that
/// is not supported.
HEADLIGHT_API GgufModel OpenGgufModel(const std::string& path);

}  // namespace headlight
