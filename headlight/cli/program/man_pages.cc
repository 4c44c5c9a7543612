#include "headlight/cli/program/man_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/shell_completion.h"

namespace headlight {
namespace {

// Escapes text for roff, so that no line is parsed as a request and - is not printed as a hyphen.
std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((escaped.empty() || escaped.back() == '\n') && (c == '.' || c == '\'')) escaped += "\\&";
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return escaped;
}

// Returns the name of the man page, such as "headlight-train-translation".
std::string PageName(const Command& command) {
  std::string name = FullName(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

void WritePages(const Command& command, const std::string& folder) {
  WriteFile(fmt::format("{}/{}.1", folder, PageName(command)), ManPage(command));
  for (const Command* one : CommandsOf(command)) WritePages(*one, folder);
}

}  // namespace

std::string ManPage(const Command& command) {
  const std::string name = PageName(command);
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string page =
      fmt::format(".TH {} 1 \"\" \"headlight {}\" \"headlight\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n",
                  Roff(upper), HEADLIGHT_VERSION, Roff(name), Roff(command.description), Roff(UsageOf(command)));
  const auto [text, examples] = DivideFooter(command.footer);
  if (!text.empty()) page += fmt::format(".SH DESCRIPTION\n{}\n", Roff(text));
  if (const std::vector<const Command*> commands = CommandsOf(command); !commands.empty()) {
    page += ".SH COMMANDS\n";
    for (const Command* one : commands)
      page += fmt::format(".TP\n.BR {} (1)\n{}\n", Roff(PageName(*one)), Roff(one->description));
  }
  for (const OptionGroup& group : OptionGroupsOf(command)) {
    std::string title = group.title;
    for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    page += fmt::format(".SH \"{}\"\n", Roff(title));
    for (const Option* option : group.options)
      page += fmt::format(".TP\n\\fB{}\\fR {}\n{}\n", Roff(NamesOf(*option)), Roff(ValueOf(*option)),
                          Roff(DescriptionOf(command, *option, HelpLevel::all)));
  }
  if (!examples.empty())
    page += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", Roff(examples.substr(examples.find('\n') + 1)));
  if (command.parent != nullptr) page += fmt::format(".SH \"SEE ALSO\"\n.BR {} (1)\n", Roff(PageName(*command.parent)));
  return page;
}

void WriteManual(const Command& program, const std::string& folder) {
  const std::string pages = folder + "/man/man1", bash = folder + "/bash-completion/completions",
                    zsh = folder + "/zsh/site-functions", fish = folder + "/fish/vendor_completions.d";
  for (const std::string& one : {pages, bash, zsh, fish}) std::filesystem::create_directories(one);
  WritePages(program, pages);
  WriteFile(bash + "/headlight", BashCompletion(program));
  WriteFile(zsh + "/_headlight", ZshCompletion(program));
  WriteFile(fish + "/headlight.fish", FishCompletion(program));
}

}  // namespace headlight
