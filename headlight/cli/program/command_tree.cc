#include "headlight/cli/program/command_tree.h"

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

// Options and commands that were called otherwise, in the order in which a command's own are looked for.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"--top", "--top-k"},
    {"--picture", "--image"},
    {"--picture", "--plot"},
    {"--pictures", "--images"},
    {"--picture-size", "--image-size"},
    {"--validate-pictures", "--validate-images"},
    {"pictures", "images"},
    {"picture-codes", "image-codes"},
    {"picture-text-pretraining", "image-text-pretraining"},
    {"text-to-picture", "text-to-image"},
};

// The word that is only a few letters away, or none.
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

std::string Advice(const std::string& name, const std::vector<std::string>& known) {
  const auto shown = [](const std::string& one) { return one.starts_with('-') ? one : '"' + one + '"'; };
  for (const auto& [old, present] : kRenamed)
    if (name == old && std::ranges::find(known, present) != known.end())
      return fmt::format(": it is now called {}", shown(std::string(present)));
  const std::string nearest = Nearest(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", shown(nearest));
}

std::vector<OptionGroup> OptionGroupsOf(const Command& command) {
  std::vector<OptionGroup> groups = {{"Arguments", {}}, {"Options", {}}};
  OptionGroup common{kCommonOptions, {}};
  for (const auto& option : command.options()) {
    if (option->group().empty()) continue;
    const std::string title = option->is_argument() ? "Arguments" : option->group();
    if (title == kCommonOptions) {
      common.options.push_back(option.get());
      continue;
    }
    auto group = std::ranges::find(groups, title, &OptionGroup::title);
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->options.push_back(option.get());
  }
  groups.push_back(std::move(common));
  std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
  return groups;
}

std::string NamesOf(const Option& option) { return fmt::format("{}", fmt::join(option.names(), ", ")); }

std::string ValueOf(const Option& option) {
  if (option.is_argument() || option.is_flag()) return "";
  return option.type() + (option.takes_many() && !option.one_at_a_time() ? " ..." : "");
}

std::string DescriptionOf(const Command& command, const Option& option) {
  std::string text = option.description();
  if (option.required()) text += " (required)";
  if (!option.default_text().empty()) text += " [" + option.default_text() + "]";
  return NameFlags(command, text);
}

std::string NameFlags(const OptionTable& command, std::string_view text) {
  std::string named;
  for (std::size_t begin = text.find('`'); begin != text.npos; begin = text.find('`')) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == text.npos) break;
    std::string flag = fmt::format("--{}", text.substr(begin + 1, end - begin - 1));
    std::ranges::replace(flag, '_', '-');
    const std::string negated = "--no-" + flag.substr(2);  // of a true value that a flag makes false
    if (command.Find(flag) == nullptr && command.Find(negated) != nullptr) flag = negated;
    const bool known = command.Find(flag) != nullptr;
    // A name that is no option may be the beginning of another.
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

std::string HelpOf(const Command& command) {
  std::string help = fmt::format("{}\n\nUsage: {}\n", command.description, UsageOf(command));
  if (!command.commands.empty()) {
    help += "\nCommands:\n";
    for (const Command* one : CommandsOf(command)) help += Entry(one->name, one->description);
  }
  for (const OptionGroup& group : OptionGroupsOf(command)) {
    help += fmt::format("\n{}:\n", group.title);
    for (const Option* option : group.options) {
      const std::string value = ValueOf(*option);
      help += Entry(NamesOf(*option) + (value.empty() ? "" : " " + value), DescriptionOf(command, *option));
    }
  }
  std::string footer = command.footer;
  footer.erase(0, footer.find_first_not_of('\n'));
  while (footer.ends_with('\n')) footer.pop_back();
  return footer.empty() ? help : help + "\n" + Filled(footer);
}

}  // namespace headlight
