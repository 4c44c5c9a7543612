// A command line, which CLI11 parses, and the file of its --config.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/program/commands.h"

namespace headlight {

/// A mistake in the command line, in words that name the options as the user gives them.
class CommandLineError : public Error {
 public:
  using Error::Error;
};

/// A required option or argument that is missing.
class MissingOption : public CommandLineError {
 public:
  using CommandLineError::CommandLineError;
};

/// The command that `arguments`, which are without the program's name, begin with, or the program. Throws Error if they
/// name none, or if an option is unknown.
Command& NamedCommand(Command& program, const std::vector<std::string>& arguments);

/// Sets the options of `command`, which the arguments name. Throws CommandLineError, or Error for a line of --config or
/// a folder that does not exist.
void ParseOptions(Command& command, std::vector<std::string> arguments);

}  // namespace headlight
