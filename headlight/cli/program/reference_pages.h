// Generates reference pages in Markdown from the declarations of the options.
#pragma once

#include <string>

#include "headlight/cli/program/commands.h"

namespace headlight {

/// Returns the reference page of a command.
std::string ReferencePage(const Command& command);

/// Writes a page for each command, such as train-translation.md, and README.md with a list of the pages.
void WriteReference(const Command& program, const std::string& folder);

}  // namespace headlight
