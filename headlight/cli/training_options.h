// The options of every command that trains.
#pragma once

#include "headlight/cli/choice.h"
#include "headlight/train/trainer.h"

namespace headlight {

// Binds them to what must outlive the program.
void AddTrainingOptions(CLI::App& command, TrainingOptions& training, ComputeChoice& compute, bool& profile,
                        bool& resume);

// Gives what was not asked for: an end. Throws Error for what cannot be together.
void CompleteTrainingOptions(TrainingOptions& training);

}  // namespace headlight
