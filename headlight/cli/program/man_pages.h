// Manual pages in roff (man(7)), generated from the same declarations as --help.
#pragma once

#include <string>

#include "headlight/cli/program/commands.h"

namespace headlight {

// The page of a command, such as headlight-translate.1.
std::string ManPage(const Command& command);

// Writes man/man1/ and the completions below FOLDER, into the folders that man and shells search.
void WriteManual(const Command& program, const std::string& folder);

}  // namespace headlight
