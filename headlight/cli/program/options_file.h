// The file of --config: lines such as `beam-size = 5`, of options of the command that is run.
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

/// Reads the lines of `file`; of an option the last line counts. Throws Error naming the file and the line for what is
/// no option of `command`.
std::vector<OptionLine> ReadOptionsFile(std::istream& input, const std::string& file, const Command& command);

}  // namespace headlight
