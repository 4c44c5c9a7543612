// The commands and options of the program as help, completion and man pages show them.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace headlight {

// The shown subcommands, by name.
std::vector<const CLI::App*> CommandsOf(const CLI::App& command);

// Every command without commands of its own.
std::vector<const CLI::App*> LeavesOf(const CLI::App& command);

// "headlight train translation"
std::string FullName(const CLI::App& command);

// The command of these names. Throws Error naming those that there are, or the one that was meant, where there is none
// or a further name is needed.
const CLI::App& FindCommand(const CLI::App& program, std::span<const std::string> names);

// The word that is only a few letters away, or none.
std::string Nearest(const std::string& word, const std::vector<std::string>& words);

struct OptionGroup {
  std::string title;
  std::vector<const CLI::Option*> options;
};
// Arguments first, options that every command has last, --config among them.
std::vector<OptionGroup> OptionGroupsOf(const CLI::App& command);

std::string NamesOf(const CLI::Option& option);        // "-h, --help"
std::string ValueOf(const CLI::Option& option);        // "N", "FILE ...", or nothing for a flag
std::string DescriptionOf(const CLI::Option& option);  // with (required) and the default in brackets
std::string UsageOf(const CLI::App& command);          // "headlight translate [OPTIONS] DIR [FILE]"

constexpr const char* kCommonOptions = "Common options";

// Prints help in two columns.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace headlight
