// Completion scripts of the program's commands, options and their values.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace headlight {

std::string BashCompletion(const CLI::App& program);
std::string ZshCompletion(const CLI::App& program);

}  // namespace headlight
