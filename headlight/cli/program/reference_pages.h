// Reference pages in Markdown, made of the same declarations as --help.
#pragma once

#include <string>

#include "headlight/cli/program/commands.h"

namespace headlight {

/// The page of a command.
std::string ReferencePage(const Command& command);

/// Writes a page for each command, such as train-translation.md, and README.md, which lists them.
void WriteReference(const Command& program, const std::string& folder);

}  // namespace headlight
