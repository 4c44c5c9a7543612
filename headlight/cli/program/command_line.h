// Parses the command line and the file of --config with CLI11.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/program/commands.h"

namespace headlight {

/// An error in the command line. The message names options by their flags.
class CommandLineError : public Error {
 public:
  using Error::Error;
};

/// Thrown if a required option or argument is missing.
class MissingOption : public CommandLineError {
 public:
  using CommandLineError::CommandLineError;
};

/// Returns the command, group or program that `arguments` name. The arguments exclude the program's name. Throws Error
/// if the command does not exist or if an option is unknown.
Command& NamedCommand(Command& program, const std::vector<std::string>& arguments);

/// Sets the options of `command` from the arguments. Throws CommandLineError for invalid arguments. Throws Error for an
/// invalid line of --config or a folder that does not exist.
void ParseOptions(Command& command, std::vector<std::string> arguments);

}  // namespace headlight
