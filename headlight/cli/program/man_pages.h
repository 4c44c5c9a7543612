// Generates manual pages in roff (man(7)) from the declarations of the options.
#pragma once

#include <string>

#include "headlight/cli/program/commands.h"

namespace headlight {

// Returns the man page of a command, such as headlight-translate.1.
std::string ManPage(const Command& command);

// Writes the man pages and shell completions to the subfolders of `folder` in which man and the shells search for them.
void WriteManual(const Command& program, const std::string& folder);

}  // namespace headlight
