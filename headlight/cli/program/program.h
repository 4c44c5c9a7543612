// Runs the program and defines its exit codes.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

std::unique_ptr<Command> MakeProgram();

// Runs `headlight ARGUMENTS`, and ends the process with its exit code.
[[noreturn]] void RunAndExit(const std::vector<std::string>& arguments);

// Throws Error if the program runs on several ranks, but the command supports only one rank.
void CheckRanks(const Command& command);

// Prints the message of an exception in one line, and returns the exit code: 1 for an internal error, 128 + N for
// signal N, and otherwise 2.
int ExitCodeOf(const Command& command, const std::exception_ptr& end);

}  // namespace headlight
