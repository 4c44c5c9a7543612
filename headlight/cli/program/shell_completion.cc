#include "headlight/cli/program/shell_completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "headlight/cli/program/command_tree.h"

namespace headlight {
namespace {

bool IsFolder(const Option& option) {
  return option.type() == "DIR" || (option.is_argument() && option.name() == "DIR");
}
bool IsFile(const Option& option) {
  return !IsFolder(option) && (option.is_argument() || option.type().starts_with("FILE") ||
                               option.type().starts_with("SRC") || option.type().starts_with("SOURCE"));
}

std::vector<std::string> CommandNames(const std::vector<const Command*>& commands) {
  std::vector<std::string> names;
  for (const Command* one : commands) names.push_back(one->name);
  return names;
}

// Returns the choices of a value: the words of a|b|c, or all commands for the argument of `help`. May be empty.
std::string Choices(const Option& option, const Command& program) {
  if (option.is_argument() && option.name() == "COMMAND")
    return fmt::format("{}", fmt::join(CommandNames(CommandsOf(program)), " "));
  std::string words = ValueOf(option);
  if (IsFile(option) || words.find('|') == std::string::npos) return "";
  std::ranges::replace(words, '|', ' ');
  return words;
}

std::vector<std::string> FlagsOf(const Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.names())
    if (name.starts_with("--")) flags.push_back(name);
  return flags;
}

void ForEachCommand(const Command& command, const auto& body) {
  body(command);
  for (const Command* one : CommandsOf(command)) ForEachCommand(*one, body);
}

// Escapes text for a single-quoted zsh completion specification, between [ and ].
std::string ForZsh(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Quotes text for fish.
std::string ForFish(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// Returns the command's name without "headlight", such as "train translation". Returns "" for the program.
std::string BelowProgram(const Command& command) {
  const std::string name = FullName(command);
  return command.parent == nullptr ? "" : name.substr(name.find(' ') + 1);
}

}  // namespace

std::string BashCompletion(const Command& program) {
  std::string script =
      "# bash completion for headlight, made by `headlight completion bash`\n"
      "_headlight() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=headlight words= word\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$command $word\" in\n";
  std::string cases;
  ForEachCommand(program, [&](const Command& command) {
    const std::string name = FullName(command);
    if (&command != &program) script += fmt::format("      '{}') command='{}' ;;\n", name, name);
    std::vector<std::string> words = CommandNames(CommandsOf(command));
    std::string values;
    for (const OptionGroup& group : OptionGroupsOf(command)) {
      for (const Option* option : group.options) {
        const std::vector<std::string> flags = FlagsOf(*option);
        words.insert(words.end(), flags.begin(), flags.end());
        const std::string choices = Choices(*option, program);
        if (flags.empty() && !choices.empty()) words.push_back(choices);
        if (flags.empty() || ValueOf(*option).empty()) continue;
        values += fmt::format("        {}) {} ;;\n", fmt::join(flags, "|"),
                              !choices.empty()    ? fmt::format("words='{}'", choices)
                              : IsFolder(*option) ? "COMPREPLY=($(compgen -d -- \"$current\")); return"
                              : IsFile(*option)   ? "COMPREPLY=($(compgen -f -- \"$current\")); return"
                                                  : "return");
      }
    }
    cases += fmt::format("    '{}')\n      words='{}'\n", name, fmt::join(words, " "));
    if (!values.empty()) cases += fmt::format("      case $previous in\n{}      esac\n", values);
    cases += "      ;;\n";
  });
  script += "    esac\n  done\n  case $command in\n" + cases +
            "  esac\n"
            "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
            "  # Other arguments are files.\n"
            "  if [[ ${#COMPREPLY[@]} = 0 && $current != -* ]]; then COMPREPLY=($(compgen -f -- \"$current\")); fi\n"
            "}\n"
            "complete -o filenames -F _headlight headlight\n";
  return script;
}

std::string ZshCompletion(const Command& program) {
  std::string script = "#compdef headlight\n# made by `headlight completion zsh`\n\n_headlight() {\n";
  script +=
      "  local command=headlight word\n"
      "  integer index=2\n"
      "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
      "    case \"$command $word\" in\n";
  std::string cases;
  ForEachCommand(program, [&](const Command& command) {
    const std::string name = FullName(command);
    if (&command != &program) script += fmt::format("      '{}') command='{}'; (( index++ )) ;;\n", name, name);
    const std::vector<const Command*> commands = CommandsOf(command);
    cases += fmt::format("    '{}')\n", name);
    if (!commands.empty()) {
      cases += "      local -a commands=(\n";
      for (const Command* one : commands)
        cases += fmt::format("        '{}:{}'\n", one->name, ForZsh(one->description));
      cases += "      )\n      _describe command commands\n      ;;\n";
      return;
    }
    cases += "      _arguments \\\n";
    for (const OptionGroup& group : OptionGroupsOf(command)) {
      for (const Option* option : group.options) {
        const std::string value = ValueOf(*option), choices = Choices(*option, program);
        const std::string action = !choices.empty()    ? "(" + choices + ")"
                                   : IsFolder(*option) ? "_files -/"
                                   : IsFile(*option)   ? "_files"
                                                       : "";
        if (option->is_argument()) {
          const bool several = option->takes_many();
          cases += fmt::format("        '{}:{}:{}' \\\n", several ? "*" : "", NamesOf(*option), action);
          continue;
        }
        const std::string what = ForZsh(DescriptionOf(command, *option, HelpLevel::brief));
        for (const std::string& flag : FlagsOf(*option))
          cases += value.empty() ? fmt::format("        '{}[{}]' \\\n", flag, what)
                                 : fmt::format("        '*{}[{}]:{}:{}' \\\n", flag, what, ForZsh(value), action);
      }
    }
    cases += "        && return\n      ;;\n";
  });
  return script +
         "    esac\n  done\n"
         "  # _arguments counts from the command's own name.\n"
         "  words=(\"$command\" \"${(@)words[index,-1]}\")\n"
         "  (( CURRENT -= index - 2 ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n}\n\n"
         "# A file of fpath is run at the first completion; a script that is sourced only registers the function.\n"
         "if [[ $funcstack[1] == _headlight ]]; then\n  _headlight \"$@\"\nelse\n  compdef _headlight headlight\nfi\n";
}

std::string FishCompletion(const Command& program) {
  std::string known, lines;
  ForEachCommand(program, [&](const Command& command) {
    if (&command != &program) known += " " + ForFish(BelowProgram(command));
    const std::string at =
        fmt::format("complete -c headlight -n \"__headlight_at {}\"", ForFish(BelowProgram(command)));
    for (const Command* one : CommandsOf(command))
      lines += fmt::format("{} -f -a {} -d {}\n", at, ForFish(one->name), ForFish(one->description));
    for (const OptionGroup& group : OptionGroupsOf(command)) {
      for (const Option* option : group.options) {
        const std::string choices = Choices(*option, program);
        if (option->is_argument()) {
          if (!choices.empty()) lines += fmt::format("{} -f -a {}\n", at, ForFish(choices));
          continue;
        }
        const std::string value = ValueOf(*option).empty() ? ""
                                  : !choices.empty()       ? " -x -a " + ForFish(choices)
                                  : IsFolder(*option)      ? " -x -a '(__fish_complete_directories)'"
                                  : IsFile(*option)        ? " -r -F"
                                                           : " -x";
        for (const std::string& flag : FlagsOf(*option))
          lines += fmt::format("{} -l {}{} -d {}\n", at, flag.substr(2), value,
                               ForFish(DescriptionOf(command, *option, HelpLevel::brief)));
      }
    }
  });
  return "# fish completion for headlight, made by `headlight completion fish`\n"
         "set -g __headlight_commands" +
         known +
         "\n\n"
         "# True if the command that the line names so far is the argument.\n"
         "function __headlight_at\n"
         "    set -l command ''\n"
         "    for word in (commandline -opc)[2..-1]\n"
         "        set -l longer (string trim -- \"$command $word\")\n"
         "        contains -- $longer $__headlight_commands; and set command $longer\n"
         "    end\n"
         "    test \"$command\" = \"$argv[1]\"\n"
         "end\n\n" +
         lines;
}

}  // namespace headlight
