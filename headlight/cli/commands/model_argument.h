// The argument of commands that take any model.
#pragma once

#include <string>

#include "headlight/base/option_table.h"

namespace headlight {

// Adds the argument DIR, which is required: a model's folder, or an .npz file of weights (io/model_folder.h).
Option& AddModel(OptionTable& command, std::string& path, const std::string& description);

}  // namespace headlight
