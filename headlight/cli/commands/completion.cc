// headlight completion: prints scripts that complete commands and options in a shell.
#include <string>

#include "headlight/cli/program/commands.h"
#include "headlight/cli/program/shell_completion.h"
#include "headlight/cli/terminal/output.h"

namespace headlight::completion {

void Add(Command& program) {
  const auto shell = std::make_shared<std::string>();
  Command& command = program.AddCommand("completion", "Print a script that completes commands in a shell");
  command.Add("SHELL", *shell, "Name of the shell: bash, zsh or fish").Required().Check(OneOf({"bash", "zsh", "fish"}));
  command.footer =
      "Examples:\n"
      "  source <(headlight completion bash)\n"
      "  headlight completion zsh > ~/.zsh/completions/_headlight\n"
      "  headlight completion fish > ~/.config/fish/completions/headlight.fish";
  command.run = [shell, &program] {
    WriteResult(*shell == "bash"  ? BashCompletion(program)
                : *shell == "zsh" ? ZshCompletion(program)
                                  : FishCompletion(program));
  };
}

}  // namespace headlight::completion
