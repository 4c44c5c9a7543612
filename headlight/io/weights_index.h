// The index of a model's weights in several files: model.safetensors.index.json or pytorch_model.bin.index.json, in the
// format of Transformers.
#pragma once

#include <map>
#include <set>
#include <string>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"

namespace headlight {

/// Returns the files of an index, with the names of the tensors in each. Throws Error unless the files have plain names
/// that end in .safetensors (in model.safetensors.index.json) or .bin (in pytorch_model.bin.index.json).
HEADLIGHT_API std::map<std::string, std::set<std::string>> ReadWeightsIndex(const std::string& path);

/// Opens the files of an index and presents them as a single file. Throws Error unless each tensor is in the file that
/// the index names, and in no other file.
HEADLIGHT_API Safetensors ReadShards(const std::string& index);

}  // namespace headlight
