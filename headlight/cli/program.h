// The command line: every command with its options, and what is said of a mistake in it.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <string>

namespace headlight {

std::unique_ptr<CLI::App> MakeProgram();

// Throws Error where the first arguments are no command.
void CheckCommand(const CLI::App& program, int argc, const char* const* argv);

// One line for what parsing a command line has ended with.
std::string MessageOf(const CLI::App& program, const CLI::ParseError& error);

// The exit code of the program that this has ended; an error is printed as one line. 1: a fault of headlight itself, 2:
// a mistake of the user, of a file or of the system; 128 + N: the signal N.
int ExitCodeOf(const CLI::App& program, const std::exception_ptr& end);

// The library's message with the flags of the command that ran for the fields that the library names: --beam-size for
// beam_size.
std::string NameFlags(const CLI::App& program, const std::string& message);

}  // namespace headlight
