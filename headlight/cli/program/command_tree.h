// Describes the commands and options of the program for help, shell completion and man pages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

// Returns the subcommands that are not hidden, sorted by name.
std::vector<const Command*> CommandsOf(const Command& command);

// Returns all commands that are not groups.
std::vector<const Command*> LeavesOf(const Command& command);

// Returns the full name of a command, such as "headlight train translation".
std::string FullName(const Command& command);

// Returns the command with these names. If it does not exist, throws Error with a message that names the most similar
// command, or all commands.
Command& FindCommand(Command& program, std::span<const std::string> names);

struct OptionGroup {
  std::string title;
  std::vector<const Option*> options;
};
// Returns the options in groups. Arguments are in the first group. Options that every command has, such as --config,
// are in the last group.
std::vector<OptionGroup> OptionGroupsOf(const Command& command);

std::string NamesOf(const Option& option);  // "-h, --help"
std::string ValueOf(const Option& option);  // "N", "FILE ...", or nothing for a flag
enum class HelpLevel { brief, all };
// Returns the description with "(required)" and the default value in brackets. With `all`, the aliases are added. The
// names of other options are replaced by their flags.
std::string DescriptionOf(const Command& command, const Option& option, HelpLevel level);
std::string UsageOf(const Command& command);  // "headlight translate [OPTIONS] DIR [FILE]"

// Replaces the option names in backquotes of a library message by the command's flags. For example, `beam_size` becomes
// --beam-size. `align_words` becomes --no-align-words if --align-words does not exist.
std::string NameFlags(const OptionTable& command, std::string_view text);

constexpr const char* kGeneralOptions = "Options of every command";

// Returns the long names of all options, such as "--beam-size" and "--config".
std::vector<std::string> LongNamesOf(const Command& command);

// Splits a footer into its explanations and its examples. The examples include their heading.
std::pair<std::string_view, std::string_view> DivideFooter(std::string_view footer);

/// Returns the help in two columns. If the help is long, `brief` includes only common options and commands, and a few
/// examples.
std::string HelpOf(const Command& command, HelpLevel level);

}  // namespace headlight
