// Generates scripts that complete the program's commands, options and values.
#pragma once

#include <string>

#include "headlight/cli/program/commands.h"

namespace headlight {

std::string BashCompletion(const Command& program);
std::string ZshCompletion(const Command& program);
std::string FishCompletion(const Command& program);

}  // namespace headlight
