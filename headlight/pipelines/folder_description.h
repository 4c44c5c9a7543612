// What the files beside the weights say of a model: its tokenizer, its vectors of texts, the settings of its pipelines.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/model.h"

namespace headlight {

/// The model's own description, and those of its tokenizer and of its vectors of texts. `files` are those of the folder
/// as OpenModelFolder finds them, and `model` is theirs. Throws Error for a tokenizer that is missing or not supported.
HEADLIGHT_API Json::Object DescribeFolder(const std::string& folder, const ModelFolder& files, const Model& model);

/// Reads the settings of the folder's pipelines: of generation, and of the preparation of images. Returns the errors of
/// settings that are not supported.
HEADLIGHT_API std::vector<std::string> UnsupportedSettings(const ModelFolder& files, const Model& model);

}  // namespace headlight
