// The index of a model's weights in several files: model.safetensors.index.json or pytorch_model.bin.index.json, as
// Transformers writes them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"

namespace headlight {

// The files that an index names, with the names of the tensors in each. They are plain names of files in the index's
// own format: .safetensors of model.safetensors.index.json, .bin of pytorch_model.bin.index.json.
HEADLIGHT_API std::map<std::string, std::set<std::string>> ReadWeightsIndex(const std::string& path);

// The tensors of these files as one. What the index says must be so: each tensor stands in the file that it names, and
// none anywhere else.
HEADLIGHT_API Safetensors ReadShards(const std::string& index);

}  // namespace headlight
