// The commands and options of the program as help, completion and man pages show them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/cli/program/commands.h"

namespace headlight {

// The shown subcommands, by name.
std::vector<const Command*> CommandsOf(const Command& command);

// Every command without commands of its own.
std::vector<const Command*> LeavesOf(const Command& command);

// "headlight train translation"
std::string FullName(const Command& command);

// The command of these names. Throws Error naming those that there are, or the one that was meant, where there is none
// or a further name is needed.
Command& FindCommand(Command& program, std::span<const std::string> names);

struct OptionGroup {
  std::string title;
  std::vector<const Option*> options;
};
// Arguments first, options that every command has last, --config among them.
std::vector<OptionGroup> OptionGroupsOf(const Command& command);

std::string NamesOf(const Option& option);  // "-h, --help"
std::string ValueOf(const Option& option);  // "N", "FILE ...", or nothing for a flag
enum class HelpLevel { brief, all };
// With (required), the default in brackets, flags as the names of other options, and with `all` the aliases.
std::string DescriptionOf(const Command& command, const Option& option, HelpLevel level);
std::string UsageOf(const Command& command);  // "headlight translate [OPTIONS] DIR [FILE]"

// The library's text with the command's flags for the options that it names in backquotes: --beam-size for `beam_size`,
// and --no-align-words for `align_words` if there is no --align-words.
std::string NameFlags(const OptionTable& command, std::string_view text);

constexpr const char* kCommonOptions = "Common options";

// Its long option names, such as "--beam-size", --config among them.
std::vector<std::string> LongNamesOf(const Command& command);

// The explanations of a footer, and its examples with their heading.
std::pair<std::string_view, std::string_view> DivideFooter(std::string_view footer);

/// Help in two columns. Of a long one, `brief` has the common options and commands and a few examples.
std::string HelpOf(const Command& command, HelpLevel level);

}  // namespace headlight
