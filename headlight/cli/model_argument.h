// The argument of commands that take any model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace headlight {

// Adds the argument DIR, which is required: a model's folder, or an .npz file of weights (io/model_folder.h).
CLI::Option* AddModel(CLI::App& command, std::string& path, const std::string& description);

}  // namespace headlight
