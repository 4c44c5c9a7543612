// Options from a file: what can be said on the command line, without its dashes, a line an option, as TOML has it.
#pragma once

namespace CLI {
class App;
}

namespace headlight {

// Adds `--config FILE` to the program, for whichever command is run. What the command line says comes first.
void AddOptionsFile(CLI::App& program);

}  // namespace headlight
