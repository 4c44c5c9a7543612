// headlight completion: scripts that complete commands and options in a shell.
#include <string>

#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/shell_completion.h"

namespace headlight {

void AddCompletion(CLI::App& program) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& command = *program.add_subcommand("completion", "Print a script that completes commands in a shell");
  command.add_option("SHELL", *shell, "The shell: bash or zsh")->required()->check(OneOf({"bash", "zsh"}));
  command.footer(
      "Examples:\n"
      "  source <(headlight completion bash)\n"
      "  headlight completion zsh > ~/.zsh/completions/_headlight");
  command.callback(
      [shell, &program] { WriteResult(*shell == "bash" ? BashCompletion(program) : ZshCompletion(program)); });
}

}  // namespace headlight
