// Reads the file of --config. Its lines set options of the command, such as `beam-size = 5`.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

struct OptionLine {
  std::string option;  // "--beam-size"
  std::vector<std::string> values;
  std::string location;  // "FILE: line 3"
};

/// Reads the lines of `file`. If an option is set more than once, the last line is used. Throws Error with the file and
/// line if `command` does not have the option.
std::vector<OptionLine> ReadOptionsFile(std::istream& input, const std::string& file, const Command& command);

}  // namespace headlight
