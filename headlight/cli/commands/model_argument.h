// Which model a command is given.
#pragma once

#include <string>

#include "headlight/base/option_table.h"

namespace headlight {

// Adds the argument DIR, which is required: a model's folder, or an .npz file of weights (io/model_folder.h).
Option& AddModel(OptionTable& command, std::string& path, const std::string& description);

// The path of the model that a command is given: a path that exists, or else the folder in the cache of downloads of
// the model with that name. Throws Error if there is neither. The values of all options that are Model() go through
// this.
std::string ModelFolderOf(const std::string& given);

}  // namespace headlight
