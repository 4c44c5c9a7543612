// The program: every command with its options, its run, and what is said of an error.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

std::unique_ptr<Command> MakeProgram();

// All of `headlight ARGUMENTS`; ends the process with its exit code.
[[noreturn]] void RunAndExit(const std::vector<std::string>& arguments);

// Throws Error if the program runs on several ranks and the command cannot.
void CheckRanks(const Command& command);

// The exit code of the command that ended with this exception, whose error is printed as one line. 1: an internal
// error; 2: a mistake of the user, of a file or of the system; 128 + N: the signal N.
int ExitCodeOf(const Command& command, const std::exception_ptr& end);

}  // namespace headlight
