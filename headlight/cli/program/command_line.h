// Parses the command line with CLI11, and the file of --config.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/program/commands.h"

namespace headlight {

/// A mistake in the command line. The message names options by their flags.
class CommandLineError : public Error {
 public:
  using Error::Error;
};

/// A required option or argument that is missing.
class MissingOption : public CommandLineError {
 public:
  using CommandLineError::CommandLineError;
};

/// Returns the command, group or program that `arguments` begin with. They are without the program's name. Throws Error
/// if they name no command, or if an option is unknown.
Command& NamedCommand(Command& program, const std::vector<std::string>& arguments);

/// Sets the options of `command` as the arguments say. Throws CommandLineError, or Error for a wrong line of --config
/// or a folder that does not exist.
void ParseOptions(Command& command, std::vector<std::string> arguments);

}  // namespace headlight
