// Defines the groups of commands, the options of the short help, aliases, and advice for unknown names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

/// A group of commands in the program's overview. The names are in the order in which they are shown.
struct CommandGroup {
  std::string_view title;
  std::vector<std::string_view> common, rare;  // rare commands are shown only in the long help
};
std::span<const CommandGroup> CommandGroups();

/// Returns true if the short help of a command shows the option.
bool IsCommon(const Option& option);

/// Returns the canonical name of an option that is given as an alias, such as --lr, or with underscores, such as
/// --beam_size. Returns other names unchanged.
std::string CanonicalName(const Command& command, std::string name);

/// Returns the aliases of an option. For example, --num-beams is an alias of --beam-size.
std::vector<std::string_view> AliasesOf(const Command& command, const Option& option);

/// Returns the end of an error message about an unknown option or command. The message suggests the replacement of
/// `name`, or names in `known` that begin with `name` or are similar. Returns "" if there is no suggestion.
std::string Advice(const std::string& name, const std::vector<std::string>& known);

}  // namespace headlight
