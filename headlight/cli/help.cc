// headlight help: how a command is used; hidden, the manual pages that are installed.
#include <string>
#include <vector>

#include "headlight/cli/checks.h"
#include "headlight/cli/command_tree.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/man_pages.h"
#include "headlight/cli/output.h"

namespace headlight {

void AddHelp(CLI::App& program) {
  struct Options {
    std::vector<std::string> command;
    std::string manual;
  };
  const auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand("help", "Explain a command");
  command.add_option("COMMAND", options->command, "The command, such as translate, or train translation [all]");
  command.add_option("--manual", options->manual, "Write the manual pages and completions below this folder")
      ->check(NotEmpty())
      ->group("");  // for the build
  command.footer("Examples:\n  headlight help translate\n  headlight help train translation");
  command.callback([options, &program] {
    if (!options->manual.empty()) return WriteManual(program, options->manual);
    const CLI::App& explained = FindCommand(program, options->command);
    // The program's help() would be that of the command that runs.
    WriteResult(explained.get_formatter()->make_help(&explained, "", CLI::AppFormatMode::Normal));
  });
}

}  // namespace headlight
