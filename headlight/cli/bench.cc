// headlight bench: what a user would ask before choosing headlight, on their machine and with their model.
#include "headlight/cli/commands.h"

namespace headlight {

void AddBench(CLI::App& program) {
  AddCommandsOf("bench", *program.add_subcommand(
                             "bench", "Measure how fast models train, translate, read and write on this machine"));
}

}  // namespace headlight
