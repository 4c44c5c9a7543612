// Groups of commands, the options of the short help, aliases, and advice for names that do not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

/// A group of commands in the overview, in this order.
struct CommandGroup {
  std::string_view title;
  std::vector<std::string_view> common, rare;  // rare ones are only in the long help
};
std::span<const CommandGroup> CommandGroups();

/// Returns true if the short help of a command shows the option.
bool IsCommon(const Option& option);

/// The command's own name of an option that is given as an alias, such as --lr, or with underscores, such as
/// --beam_size. Any other name is returned unchanged.
std::string CanonicalName(const Command& command, std::string name);

/// The aliases of an option, such as --num-beams of --beam-size.
std::vector<std::string_view> AliasesOf(const Command& command, const Option& option);

/// The end of a message about an unknown option or command. It names the replacement among `known`, or names that begin
/// with `name` or are similar to it. Empty if there is none.
std::string Advice(const std::string& name, const std::vector<std::string>& known);

}  // namespace headlight
