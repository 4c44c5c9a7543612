// headlight bench: what a user would ask before choosing headlight, on their machine and with their model.
#include <CLI/CLI.hpp>

#include "headlight/cli/commands.h"

namespace headlight {

void AddBench(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("bench", "Measure how fast models train, translate, read and write on this machine");
  command.fallthrough();
  command.require_subcommand(1);
  AddEncodeBench(command);
  AddGenerateBench(command);
  AddTrainBench(command);
  AddTranslateBench(command);
}

}  // namespace headlight
