// The commands and options of the program, as help, completion and man pages show them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

// The subcommands that are not hidden, sorted by name.
std::vector<const Command*> CommandsOf(const Command& command);

// All commands that are not groups.
std::vector<const Command*> LeavesOf(const Command& command);

// Such as "headlight train translation".
std::string FullName(const Command& command);

// The command of these names. If there is none, throws Error that names the command that was probably meant, or all.
Command& FindCommand(Command& program, std::span<const std::string> names);

struct OptionGroup {
  std::string title;
  std::vector<const Option*> options;
};
// Arguments come first. The options that every command has, such as --config, come last.
std::vector<OptionGroup> OptionGroupsOf(const Command& command);

std::string NamesOf(const Option& option);  // "-h, --help"
std::string ValueOf(const Option& option);  // "N", "FILE ...", or nothing for a flag
enum class HelpLevel { brief, all };
// The description with (required), the default in brackets and, with `all`, aliases. Other options have their flags.
std::string DescriptionOf(const Command& command, const Option& option, HelpLevel level);
std::string UsageOf(const Command& command);  // "headlight translate [OPTIONS] DIR [FILE]"

// Replaces options that the library's text names in backquotes by the command's flags: `beam_size` by --beam-size, and
// `align_words` by --no-align-words if there is no --align-words.
std::string NameFlags(const OptionTable& command, std::string_view text);

constexpr const char* kCommonOptions = "Common options";

// The long names of all options, such as "--beam-size" and "--config".
std::vector<std::string> LongNamesOf(const Command& command);

// Divides a footer into its explanations, and its examples with their heading.
std::pair<std::string_view, std::string_view> DivideFooter(std::string_view footer);

/// Help in two columns. If it is long, `brief` has only common options and commands, and a few examples.
std::string HelpOf(const Command& command, HelpLevel level);

}  // namespace headlight
