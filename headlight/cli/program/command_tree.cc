#include "headlight/cli/program/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/cli/program/names.h"

namespace headlight {
namespace {

constexpr std::size_t kColumn = 30, kWidth = 110;
constexpr std::ptrdiff_t kBriefLines = 40;
constexpr int kBriefExamples = 3;

// Appends words to `to` in lines of at most kWidth columns, indented by `indent` spaces. `at` is the current column.
void AppendWords(std::string& to, std::size_t& at, std::string_view words, std::size_t indent) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find_first_of(" \n"), words.size());
    const std::string_view word = words.substr(0, end);
    if (at > indent && at + 1 + word.size() > kWidth) {
      to += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      to += ' ';
      ++at;
    }
    to += word;
    at += word.size();
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

// Returns an entry of two columns. `left` is broken after | if it is too long, and `text` is broken at spaces.
std::string Entry(const std::string& left, std::string_view text) {
  std::string entry = "  ";
  std::size_t line = 0;  // offset of the last line in `entry`
  for (std::size_t begin = 0, end = 0; begin < left.size(); begin = end) {
    end = std::min(left.find('|', begin), left.size() - 1) + 1;
    if (entry.size() - line + end - begin > kWidth) {
      entry += '\n';
      line = entry.size();
      entry.append(6, ' ');
    }
    entry += left.substr(begin, end - begin);
  }
  if (text.empty()) return entry + "\n";
  if (line > 0 || entry.size() + 2 > kColumn) entry += "\n" + std::string(kColumn, ' ');
  entry.resize(std::max(entry.size(), kColumn), ' ');
  std::size_t at = kColumn;
  AppendWords(entry, at, text, kColumn);
  return entry + "\n";
}

// Wraps paragraphs at kWidth columns. Indented lines, such as examples and tables, are not changed.
std::string Filled(std::string_view text) {
  std::string filled;
  std::size_t at = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == ' ') {
      if (std::exchange(at, 0) > 0) filled += '\n';
      filled += line;
      filled += '\n';
    } else {
      AppendWords(filled, at, line, 0);
    }
  }
  return at > 0 ? filled + "\n" : filled;
}

// Returns the help entries of all commands, or only of the common commands. Commands without a group are in the last
// group.
std::string CommandEntries(const Command& command, bool all) {
  const std::vector<const Command*> commands = CommandsOf(command);
  std::string entries;
  if (command.parent != nullptr) {
    entries += "\nCommands:\n";
    for (const Command* one : commands) entries += Entry(one->name, one->description);
    return entries;
  }
  const std::span<const CommandGroup> groups = CommandGroups();
  const auto has = [](const std::vector<std::string_view>& names, const Command* one) {
    return std::ranges::find(names, one->name) != names.end();
  };
  const auto is_other = [&](const Command* one) {
    return std::ranges::none_of(
        groups, [&](const CommandGroup& group) { return has(group.common, one) || has(group.rare, one); });
  };
  for (const CommandGroup& group : groups) {
    entries += fmt::format("{}{}:\n", all || &group == groups.data() ? "\n" : "", group.title);
    for (const Command* one : commands)
      if (has(group.common, one) || (all && has(group.rare, one)) || (&group == &groups.back() && is_other(one)))
        entries += Entry(one->name, one->description);
  }
  return entries;
}

std::string OptionEntry(const Command& command, const Option& option, HelpLevel level) {
  const std::string value = ValueOf(option);
  return Entry(NamesOf(option) + (value.empty() ? "" : " " + value), DescriptionOf(command, option, level));
}

std::string LongHelp(const Command& command) {
  std::string help = fmt::format("{}\n\nUsage: {}\n", command.description, UsageOf(command));
  if (!command.commands.empty()) help += CommandEntries(command, /*all=*/true);
  for (const OptionGroup& group : OptionGroupsOf(command)) {
    help += fmt::format("\n{}:\n", group.title);
    for (const Option* option : group.options) help += OptionEntry(command, *option, HelpLevel::all);
  }
  const auto [text, examples] = DivideFooter(command.footer);
  return text.empty() && examples.empty() ? help : help + "\n" + Filled(text) + Filled(examples);
}

// Returns true if `example` uses only common options of the command. Options of other programs are ignored.
bool UsesCommonOptions(const Command& command, const std::string& example) {
  std::istringstream words(example);
  for (std::string word; words >> word;)
    if (const Option* const option = command.Find(word.substr(0, word.find('='))); option != nullptr)
      if (!IsCommon(*option)) return false;
  return true;
}

// Returns the first examples that use only common options, with their heading.
std::string BriefExamples(const Command& command, std::string_view examples) {
  std::string brief, example, line;
  std::istringstream lines{std::string(examples)};
  for (int shown = 0; shown <= kBriefExamples && std::getline(lines, line);) {
    example += line + '\n';
    if (line.ends_with('\\')) continue;
    if (UsesCommonOptions(command, example)) {
      brief += example;
      ++shown;
    }
    example.clear();
  }
  return brief;
}

// Returns the short help, with only common options and examples.
std::string BriefHelp(const Command& command) {
  std::string help = fmt::format("{}\n\nUsage: {}\n", command.description, UsageOf(command));
  if (!command.commands.empty())
    return fmt::format("{}{}\n{} COMMAND --help explains a command; {} --help-all lists all.\n", help,
                       CommandEntries(command, /*all=*/false), command.name, command.name);
  std::string arguments, options;
  std::size_t all = 0;
  bool has_model = false;
  for (const OptionGroup& group : OptionGroupsOf(command))
    for (const Option* option : group.options) {
      if (!option->is_argument()) ++all;
      has_model = has_model || (option->is_argument() && option->is_model());
      if (IsCommon(*option))
        (option->is_argument() ? arguments : options) += OptionEntry(command, *option, HelpLevel::brief);
    }
  if (!arguments.empty()) help += "\nArguments:\n" + arguments;
  help += "\nCommon options:\n" + options + "\n";
  help += BriefExamples(command, DivideFooter(command.footer).second);
  return fmt::format("{}\n{} --help-all explains all {} options and the output{}.\n", help, FullName(command), all,
                     has_model ? "; headlight pull downloads models" : "");
}

}  // namespace

std::vector<const Command*> CommandsOf(const Command& command) {
  std::vector<const Command*> commands;
  for (const auto& one : command.commands) commands.push_back(one.get());
  std::ranges::sort(commands, {}, [](const Command* one) { return one->name; });
  return commands;
}

std::vector<const Command*> LeavesOf(const Command& command) {
  std::vector<const Command*> leaves;
  for (const Command* one : CommandsOf(command)) {
    const std::vector<const Command*> below = LeavesOf(*one);
    leaves.insert(leaves.end(), below.begin(), below.end());
    if (below.empty()) leaves.push_back(one);
  }
  return leaves;
}

std::string FullName(const Command& command) {
  return command.parent == nullptr ? command.name : FullName(*command.parent) + " " + command.name;
}

Command& FindCommand(Command& program, std::span<const std::string> names) {
  Command* command = &program;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(command->commands, name, [](const auto& one) { return one->name; });
    if (found == command->commands.end()) {
      std::vector<std::string> known;
      for (const Command* one : CommandsOf(*command)) known.push_back(one->name);
      const std::string advice = Advice(name, known), of = FullName(*command);
      Check(!known.empty(), "{} has no commands, such as \"{}\"", of, name);
      Check(advice.empty(), "{} has no command \"{}\"{}", of, name, advice);
      Fail("{} has no command \"{}\"; there are: {}", of, name, fmt::join(known, ", "));
    }
    command = found->get();
  }
  return *command;
}

std::vector<OptionGroup> OptionGroupsOf(const Command& command) {
  std::vector<OptionGroup> groups = {{"Arguments", {}}, {"Options", {}}};
  OptionGroup general{kGeneralOptions, {}};
  for (const auto& option : command.options()) {
    if (option->group().empty()) continue;
    const std::string title = option->is_argument() ? "Arguments" : option->group();
    if (title == kGeneralOptions) {
      general.options.push_back(option.get());
      continue;
    }
    auto group = std::ranges::find(groups, title, &OptionGroup::title);
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->options.push_back(option.get());
  }
  groups.push_back(std::move(general));
  std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
  return groups;
}

std::string NamesOf(const Option& option) { return fmt::format("{}", fmt::join(option.names(), ", ")); }

std::string ValueOf(const Option& option) {
  if (option.is_argument() || option.is_flag()) return "";
  return option.type() + (option.takes_many() && !option.one_at_a_time() ? " ..." : "");
}

std::string DescriptionOf(const Command& command, const Option& option, HelpLevel level) {
  std::string text = option.description();
  if (option.required()) text += " (required)";
  if (!option.default_text().empty()) text += " [" + option.default_text() + "]";
  const std::vector<std::string_view> aliases = AliasesOf(command, option);
  if (level == HelpLevel::all && !aliases.empty()) text += fmt::format(" (also {})", fmt::join(aliases, ", "));
  return NameFlags(command, text);
}

std::string NameFlags(const OptionTable& command, std::string_view text) {
  std::string named;
  for (std::size_t begin = text.find('`'); begin != text.npos; begin = text.find('`')) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == text.npos) break;
    std::string flag = fmt::format("--{}", text.substr(begin + 1, end - begin - 1));
    std::ranges::replace(flag, '_', '-');
    const std::string negated = "--no-" + flag.substr(2);  // the flag that sets the option to false
    if (command.Find(flag) == nullptr && command.Find(negated) != nullptr) flag = negated;
    const bool known = command.Find(flag) != nullptr;
    // If the name is not an option, its second backquote may be the first backquote of another name.
    named += known ? fmt::format("{}{}", text.substr(0, begin), flag) : text.substr(0, end);
    text.remove_prefix(known ? end + 1 : end);
  }
  return named.append(text);
}

std::string UsageOf(const Command& command) {
  std::string usage = FullName(command);
  if (!command.commands.empty()) return usage + " COMMAND [OPTIONS]";
  usage += " [OPTIONS]";
  for (const auto& option : command.options()) {
    if (!option->is_argument()) continue;
    const std::string name = option->name() + (option->takes_many() ? "..." : "");
    usage += option->required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::vector<std::string> LongNamesOf(const Command& command) {
  std::vector<std::string> names;
  for (const OptionGroup& group : OptionGroupsOf(command))
    for (const Option* option : group.options)
      for (const std::string& name : option->names())
        if (name.starts_with("--")) names.push_back(name);
  return names;
}

std::pair<std::string_view, std::string_view> DivideFooter(std::string_view footer) {
  footer.remove_prefix(std::min(footer.find_first_not_of('\n'), footer.size()));
  while (footer.ends_with('\n')) footer.remove_suffix(1);
  const std::size_t examples = std::min(footer.find("Example"), footer.size());
  return {footer.substr(0, examples), footer.substr(examples)};
}

std::string HelpOf(const Command& command, HelpLevel level) {
  const std::string all = LongHelp(command);
  if (level == HelpLevel::all || std::ranges::count(all, '\n') <= kBriefLines) return all;
  return BriefHelp(command);
}

}  // namespace headlight
