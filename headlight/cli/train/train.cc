// headlight train: trains models and tokenizers.
#include "headlight/cli/program/commands.h"

namespace headlight::train {

void Add(Command& program) { AddCommandsOf("train", program.AddCommand("train", "Train models and tokenizers")); }

}  // namespace headlight::train
