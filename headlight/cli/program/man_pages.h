// Manual pages in roff (man(7)), made of the same declarations as --help.
#pragma once

#include <string>

#include "headlight/cli/program/commands.h"

namespace headlight {

// The page of a command, such as headlight-translate.1.
std::string ManPage(const Command& command);

// Writes man/man1/ and the completions to the folders of FOLDER where shells and man look for them.
void WriteManual(const Command& program, const std::string& folder);

}  // namespace headlight
