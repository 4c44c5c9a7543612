// headlight help: explains a command. Hidden options write the manual pages and the reference pages.
#include <memory>
#include <string>
#include <vector>

#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/program/man_pages.h"
#include "headlight/cli/program/reference_pages.h"
#include "headlight/cli/terminal/output.h"

namespace headlight::help {

void Add(Command& program) {
  struct Options {
    std::vector<std::string> command;
    std::string manual, reference;
  };
  const auto options = std::make_shared<Options>();
  Command& command = program.AddCommand("help", "Explain a command");
  command.Add("COMMAND", options->command, "Name of the command, such as translate, or train translation [all]");
  command.Add("--manual", options->manual, NotEmpty(), "Write the manual pages and completions below this folder")
      .Group("");  // hidden; used by the build
  command.Add("--reference", options->reference, NotEmpty(), "Write the reference pages in Markdown to this folder")
      .Group("");  // hidden; used by scripts/docs
  command.footer = "Examples:\n  headlight help translate\n  headlight help train translation";
  command.run = [options, &program] {
    if (!options->manual.empty()) return WriteManual(program, options->manual);
    if (!options->reference.empty()) return WriteReference(program, options->reference);
    WriteResult(HelpOf(FindCommand(program, options->command), HelpLevel::brief));
  };
}

}  // namespace headlight::help
