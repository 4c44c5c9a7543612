// The commands and options of the program as help, completion and man pages show them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlight/cli/commands.h"

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

// The word that is only a few letters away, or none.
std::string Nearest(const std::string& word, const std::vector<std::string>& words);

struct OptionGroup {
  std::string title;
  std::vector<const Option*> options;
};
// Arguments first, options that every command has last, --config among them.
std::vector<OptionGroup> OptionGroupsOf(const Command& command);

std::string NamesOf(const Option& option);        // "-h, --help"
std::string ValueOf(const Option& option);        // "N", "FILE ...", or nothing for a flag
std::string DescriptionOf(const Option& option);  // with (required) and the default in brackets
std::string UsageOf(const Command& command);      // "headlight translate [OPTIONS] DIR [FILE]"

constexpr const char* kCommonOptions = "Common options";

// Its long option names, such as "--beam-size", --config among them.
std::vector<std::string> LongNamesOf(const Command& command);

// Help in two columns.
std::string HelpOf(const Command& command);

}  // namespace headlight
