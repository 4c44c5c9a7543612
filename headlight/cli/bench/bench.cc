// headlight bench: speed, memory and shares of the machine's peak rates for the user's machine and model.
#include "headlight/cli/program/commands.h"

namespace headlight::bench {

void Add(Command& program) {
  AddCommandsOf("bench", program.AddCommand("bench", "Measure the speed of models on this machine"));
}

}  // namespace headlight::bench
