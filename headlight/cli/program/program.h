// The program: its commands, its run, and its exit codes.
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

// Throws Error if the program runs on several ranks and the command cannot.
void CheckRanks(const Command& command);

// Prints the error of an exception in one line, and returns the exit code. 1: an internal error; 2: a mistake of the
// user, of a file or of the system; 128 + N: the signal N.
int ExitCodeOf(const Command& command, const std::exception_ptr& end);

}  // namespace headlight
