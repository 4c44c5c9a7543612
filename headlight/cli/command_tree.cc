#include "headlight/cli/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::size_t kColumn = 30, kWidth = 110;

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Appends words, broken at kWidth into lines that begin with `indent` spaces; `at` is the column of the last one's end.
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

// `left` in the first column, `text` broken at spaces in the second.
std::string Entry(const std::string& left, std::string_view text) {
  std::string entry = "  " + left;
  if (text.empty()) return entry + "\n";
  if (entry.size() + 2 > kColumn) entry += "\n" + std::string(kColumn, ' ');
  entry.resize(std::max(entry.size(), kColumn), ' ');
  std::size_t at = kColumn;
  AppendWords(entry, at, text, kColumn);
  return entry + "\n";
}

// Paragraphs broken at kWidth; indented lines, of examples and tables, stay as they are.
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

std::string Names(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<const CLI::App*> CommandsOf(const CLI::App& command) {
  std::vector<const CLI::App*> commands = command.get_subcommands([](const CLI::App*) { return true; });
  std::ranges::sort(commands, {}, [](const CLI::App* one) { return one->get_name(); });
  return commands;
}

std::vector<const CLI::App*> LeavesOf(const CLI::App& command) {
  std::vector<const CLI::App*> leaves;
  for (const CLI::App* one : CommandsOf(command)) {
    const std::vector<const CLI::App*> below = LeavesOf(*one);
    leaves.insert(leaves.end(), below.begin(), below.end());
    if (below.empty()) leaves.push_back(one);
  }
  return leaves;
}

std::string FullName(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : FullName(*command.get_parent()) + " " + command.get_name();
}

const CLI::App& FindCommand(const CLI::App& program, std::span<const std::string> names) {
  const CLI::App* command = &program;
  for (const std::string& name : names) {
    const std::vector<const CLI::App*> commands = CommandsOf(*command);
    const auto found = std::ranges::find(commands, name, [](const CLI::App* one) { return one->get_name(); });
    if (found == commands.end()) {
      std::vector<std::string> known;
      for (const CLI::App* one : commands) known.push_back(one->get_name());
      const std::string meant = Nearest(name, known), of = FullName(*command);
      Check(!commands.empty(), "{} has no commands, such as \"{}\"", of, name);
      Check(meant.empty(), "{} has no command \"{}\"; did you mean \"{}\"?", of, name, meant);
      Fail("{} has no command \"{}\"; there are: {}", of, name, Names(commands));
    }
    command = *found;
  }
  return *command;
}

std::string Nearest(const std::string& word, const std::vector<std::string>& words) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;  // one letter of three may differ
  for (const std::string& one : words)
    if (const std::size_t distance = EditDistance(word, one); distance < least) {
      least = distance;
      nearest = one;
    }
  return nearest;
}

std::vector<OptionGroup> OptionGroupsOf(const CLI::App& command) {
  std::vector<OptionGroup> groups = {{"Arguments", {}}, {"Options", {}}};
  OptionGroup common{kCommonOptions, {}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string title = option->get_positional() ? "Arguments" : option->get_group();
    if (title == kCommonOptions) {
      common.options.push_back(option);
      continue;
    }
    auto group = std::ranges::find(groups, title, &OptionGroup::title);
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->options.push_back(option);
  }
  // --config belongs to the program, and is found there by its commands.
  const CLI::App* program = &command;
  while (program->get_parent() != nullptr) program = program->get_parent();
  if (program != &command && CommandsOf(command).empty()) common.options.push_back(program->get_config_ptr());
  groups.push_back(std::move(common));
  std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
  return groups;
}

std::string NamesOf(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string ValueOf(const CLI::Option& option) {
  if (option.get_positional() || option.get_expected_max() == 0) return "";
  const bool several = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return option.get_type_name() + (several && option.get_allow_extra_args() ? " ..." : "");
}

std::string DescriptionOf(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += " (required)";
  if (!option.get_default_str().empty()) text += " [" + option.get_default_str() + "]";
  return text;
}

std::string UsageOf(const CLI::App& command) {
  std::string usage = FullName(command);
  if (!CommandsOf(command).empty()) return usage + " COMMAND [OPTIONS]";
  usage += " [OPTIONS]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name =
        NamesOf(*option) + (option->get_expected_max() == CLI::detail::expected_max_vector_size ? "..." : "");
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string HelpFormatter::make_help(const CLI::App* command, std::string /*name*/, CLI::AppFormatMode /*mode*/) const {
  std::string help = fmt::format("{}\n\nUsage: {}\n", command->get_description(), UsageOf(*command));
  if (const std::vector<const CLI::App*> commands = CommandsOf(*command); !commands.empty()) {
    help += "\nCommands:\n";
    for (const CLI::App* one : commands) help += Entry(one->get_name(), one->get_description());
  }
  for (const OptionGroup& group : OptionGroupsOf(*command)) {
    help += fmt::format("\n{}:\n", group.title);
    for (const CLI::Option* option : group.options) {
      const std::string value = ValueOf(*option);
      help += Entry(NamesOf(*option) + (value.empty() ? "" : " " + value), DescriptionOf(*option));
    }
  }
  std::string footer = command->get_footer();
  footer.erase(0, footer.find_first_not_of('\n'));
  while (footer.ends_with('\n')) footer.pop_back();
  return footer.empty() ? help : help + "\n" + Filled(footer);
}

}  // namespace headlight
