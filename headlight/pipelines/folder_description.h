// Descriptions of a folder's files other than the weights: the tokenizer, the modules of sentence embeddings, and the
// settings of pipelines.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/model.h"

namespace headlight {

/// Describes the model, its tokenizer and its sentence embedding modules. `files` must be the folder as returned by
/// OpenModelFolder, and `model` the model loaded from it. Throws Error if a tokenizer is missing or not supported.
HEADLIGHT_API Json::Object DescribeFolder(const std::string& folder, const ModelFolder& files, const Model& model);

/// Reads the generation settings and the image processor's settings. Returns an error message for each setting that is
/// not supported.
HEADLIGHT_API std::vector<std::string> UnsupportedSettings(const ModelFolder& files, const Model& model);

}  // namespace headlight
