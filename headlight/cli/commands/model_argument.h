// Handles the model argument of a command.
#pragma once

#include <string>

#include "headlight/base/option_table.h"

namespace headlight {

// Adds the required argument DIR: a model's folder, a GGUF file, or an .npz file of weights (io/model_folder.h).
Option& AddModel(OptionTable& command, std::string& path, const std::string& description);

// Returns the path of a model: `given` if this path exists, and otherwise the folder of the downloaded model with this
// name. If the folder has no config.json but a GGUF file, returns the path of the GGUF file. Throws Error if there is
// no model, or if the folder has several GGUF files. This function is applied to the values of all options with
// Model().
std::string ModelFolderOf(const std::string& given);

}  // namespace headlight
