// headlight train: models and tokenizers from raw data.
#include "headlight/cli/commands.h"

namespace headlight {

void AddTrain(Command& program) { AddCommandsOf("train", program.AddCommand("train", "Train models and tokenizers")); }

}  // namespace headlight
