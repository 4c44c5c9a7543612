// The command line: every command with its options, and what is said of a mistake in it.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace headlight {

std::unique_ptr<CLI::App> MakeProgram();

// Throws Error where the first arguments are no command.
void CheckCommand(const CLI::App& program, int argc, const char* const* argv);

// One line for what parsing a command line has ended with.
std::string MessageOf(const CLI::App& program, const CLI::ParseError& error);

// The library's message with the flags of the command that ran for the fields that the library names: --beam-size for
// beam_size.
std::string NameFlags(const CLI::App& program, const std::string& message);

}  // namespace headlight
