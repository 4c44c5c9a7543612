// Options from a TOML file: those of the command line, without dashes, one per line.
#pragma once

namespace CLI {
class App;
}

namespace headlight {

// Adds `--config FILE` to the program, for any command. The command line has precedence.
void AddOptionsFile(CLI::App& program);

}  // namespace headlight
