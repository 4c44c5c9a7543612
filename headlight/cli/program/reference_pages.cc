#include "headlight/cli/program/reference_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/cli/program/command_tree.h"

namespace headlight {
namespace {

// Escapes Markdown markup, except code in backquotes.
std::string Plain(std::string_view text) {
  std::string escaped;
  bool in_code = false;
  for (const char c : text) {
    if (c == '`') in_code = !in_code;
    if (!in_code && std::string_view("\\*_[]<>#|{}$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Converts text to Markdown. Lines that begin with a space become code blocks, and other lines become paragraphs.
std::string Paragraphs(std::string_view text) {
  std::string page;
  bool in_block = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool is_block = line.starts_with(' ');
    if (is_block != in_block) page += is_block ? "\n```text\n" : "```\n\n";
    in_block = is_block;
    page += is_block ? std::string(line) : Plain(line);
    page += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return page + (in_block ? "```\n" : "");
}

// Returns the name of a command's page without its extension, such as "train-translation".
std::string ReferencePageName(const Command& command) {
  if (command.parent == nullptr || command.parent->parent == nullptr) return command.name;
  return ReferencePageName(*command.parent) + "-" + command.name;
}

std::string ListOf(const Command& command) {
  std::string list;
  for (const Command* one : CommandsOf(command))
    list += fmt::format("- [{}]({}.md): {}\n", FullName(*one), ReferencePageName(*one), Plain(one->description));
  return list;
}

void WriteReferencePages(const Command& command, const std::string& folder) {
  for (const Command* one : CommandsOf(command)) {
    WriteFile(fmt::format("{}/{}.md", folder, ReferencePageName(*one)), ReferencePage(*one));
    WriteReferencePages(*one, folder);
  }
}

}  // namespace

std::string ReferencePage(const Command& command) {
  std::string page =
      fmt::format("# {}\n\n{}.\n\n```text\n{}\n```\n", FullName(command), Plain(command.description), UsageOf(command));
  const auto [text, examples] = DivideFooter(command.footer);
  if (!command.commands.empty()) page += fmt::format("\n## Commands\n\n{}", ListOf(command));
  for (const OptionGroup& group : OptionGroupsOf(command)) {
    page += fmt::format("\n## {}\n", group.title);
    for (const Option* option : group.options) {
      const std::string value = ValueOf(*option);
      page += fmt::format("\n`{}{}`\n:   {}\n", NamesOf(*option), value.empty() ? "" : " " + value,
                          Plain(DescriptionOf(command, *option, HelpLevel::all)));
    }
  }
  if (!text.empty()) page += "\n## Notes\n\n" + Paragraphs(text);
  if (!examples.empty())
    page += fmt::format("\n## Examples\n\n```text\n{}\n```\n", examples.substr(examples.find('\n') + 1));
  return page;
}

void WriteReference(const Command& program, const std::string& folder) {
  std::filesystem::create_directories(folder);
  WriteFile(folder + "/README.md", fmt::format("# Commands\n\n{}", ListOf(program)));
  WriteReferencePages(program, folder);
}

}  // namespace headlight
