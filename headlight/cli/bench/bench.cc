// headlight bench: measures speed and memory, and compares them with the machine's peak rates.
#include "headlight/cli/program/commands.h"

namespace headlight::bench {

void Add(Command& program) {
  AddCommandsOf("bench", program.AddCommand("bench", "Measure the speed of models on this machine"));
}

}  // namespace headlight::bench
