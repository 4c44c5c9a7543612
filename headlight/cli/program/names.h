// Names of commands and options besides those in their tables: groups of commands, what the short help shows, aliases,
// and what to use instead of a name that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

/// A group of commands in the overview, in its order.
struct CommandGroup {
  std::string_view title;
  std::vector<std::string_view> common, rare;  // rare ones are only in the long help
};
std::span<const CommandGroup> CommandGroups();

/// Returns true if the short help of a command shows the option.
bool IsCommon(const Option& option);

/// The name in the command's table: of an alias such as --lr, or of a name with underscores such as --beam_size. A name
/// that is neither, or that the command has, is returned as it is.
std::string CanonicalName(const Command& command, std::string name);

/// The aliases of an option, such as --num-beams of --beam-size.
std::vector<std::string_view> AliasesOf(const Command& command, const Option& option);

/// Ends a message about an unknown option or command: with what to use instead among `known`, with those that it begins
/// or that are a few letters away, or with nothing.
std::string Advice(const std::string& name, const std::vector<std::string>& known);

}  // namespace headlight
