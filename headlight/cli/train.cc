// headlight train: models and tokenizers from raw data.
#include "headlight/cli/commands.h"

namespace headlight {

void AddTrain(CLI::App& program) {
  AddCommandsOf("train", *program.add_subcommand("train", "Train models and tokenizers"));
}

}  // namespace headlight
