// Reads the file of --config, whose lines set options of the command, such as `beam-size = 5`.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

struct OptionLine {
  std::string option;  // "--beam-size"
  std::vector<std::string> values;
  std::string place;  // "FILE: line 3"
};

/// Reads the lines of `file`. If an option is set more than once, the last line counts. Throws Error naming the file
/// and the line for an option that `command` does not have.
std::vector<OptionLine> ReadOptionsFile(std::istream& input, const std::string& file, const Command& command);

}  // namespace headlight
