// headlight bench: speed, memory and the share of the machine's peak rates, on the user's machine and model.
#include "headlight/cli/program/commands.h"

namespace headlight::bench {

void Add(Command& program) {
  AddCommandsOf("bench", program.AddCommand("bench", "Measure the speed of models on this machine"));
}

}  // namespace headlight::bench
